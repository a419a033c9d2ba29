import { isWarning, type Finding, type FindingCode } from "./finding.ts";
import { LineTable, type Position } from "./dot/line-table.ts";

/**
 * Collects the findings of one file. What is said twice of one place is kept once: defaults and edge chains
 * bring the same attribute to many elements.
 */
export class FindingList {
  readonly #fileName: string;
  readonly #lines: LineTable;
  readonly #findings = new Map<string, Finding>();

  constructor(source: string, fileName: string) {
    this.#fileName = fileName;
    this.#lines = new LineTable(source);
  }

  /** `at` is a position, or an offset in the source in UTF-16 units. */
  add(code: FindingCode, at: Position | number, message: string): void {
    const { line, column } = typeof at === "number" ? this.positionOf(at) : at;
    const finding = { code, message, file: this.#fileName, line, column };
    this.#findings.set([line, column, code, message].join(" "), finding);
  }

  positionOf(offset: number): Position {
    return this.#lines.positionOf(offset);
  }

  hasErrors(): boolean {
    return [...this.#findings.values()].some((finding) => !isWarning(finding));
  }

  /** In source order. */
  sorted(): Finding[] {
    return [...this.#findings.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
  }
}
