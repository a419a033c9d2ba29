import { isUtf8 } from "node:buffer";
import { escapeText } from "../../contract/escape.ts";
import { formatSize } from "../../contract/quantity.ts";

export interface TableRow {
  readonly key: string;
  /** A step path, or `input`. */
  readonly setBy: string;
  /** Bytes. */
  readonly size: number;
  /** The beginning of the value is enough. */
  readonly head: Buffer;
}

const gap = "  ";
/** A preview shorter than this says nothing. */
const minPreview = 16;

/**
 * Every value of a run, one line each, cut to `width` columns: key, who set it, size, and the beginning of
 * the value on one line.
 */
export function formatTable(rows: readonly TableRow[], width: number): string {
  const cells = rows.map((row) => [row.key, row.setBy, formatSize(row.size)] as const);
  const header = ["KEY", "SET BY", "SIZE"] as const;
  const widths = [0, 1, 2].map((column) =>
    Math.max(...[header, ...cells].map((row) => (row[column] ?? "").length)),
  );
  const used = widths.reduce((sum, each) => sum + each + gap.length, 0);
  const room = Math.max(minPreview, width - used);
  const line = (row: readonly string[], preview: string): string => {
    const [key = "", setBy = "", size = ""] = row;
    const padded = [
      key.padEnd(widths[0] ?? 0),
      setBy.padEnd(widths[1] ?? 0),
      size.padStart(widths[2] ?? 0),
      preview,
    ];
    return `${padded.join(gap).trimEnd()}\n`;
  };
  return [
    line(header, "VALUE"),
    ...rows.map((row, index) => line(cells[index] ?? [], previewOf(row, room))),
  ].join("");
}

function previewOf({ head, size }: TableRow, room: number): string {
  // A cut may fall inside a character.
  const whole = head.length === size;
  const text = whole && !isUtf8(head) ? "" : head.toString("utf8").replace(/\uFFFD+$/, "");
  const line = escapeText(text.trimEnd().replaceAll(/\s+/g, " "));
  const complete = whole && line.length <= room;
  return complete ? line : `${line.slice(0, room - 1)}…`;
}
