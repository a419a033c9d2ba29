// Prints a findings file as Markdown sections.
import { readFileSync } from "node:fs";

const { largest, markers, commits } = JSON.parse(readFileSync(process.argv[2], "utf8"));

section(
  "Largest files",
  largest,
  ({ path, bytes, lines }) => `\`${path}\`: ${bytes} bytes, ${lines} lines`,
);
section("Open markers", markers.first, ({ path, line, text }) => `\`${path}:${line}\` ${text}`);
section("Last commits", commits, ({ hash, date, subject }) => `${date} ${hash} ${subject}`);

function section(title, items, format) {
  if (items.length === 0) return;
  console.log(`## ${title}\n\n${items.map((item) => `- ${format(item)}\n`).join("")}`);
}
