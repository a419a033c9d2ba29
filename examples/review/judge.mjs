// Prints the verdict on a findings file: `approve`, or `revise` where there are many open markers or an
// oversized source file.
import { readFileSync } from "node:fs";

const maxMarkersPerThousandLines = 1;
const maxSourceLines = 2_000;

// Lock files are long by nature.
const isGenerated = (path) => /lock|\.min\./.test(path);

const { lines, markers, largest } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tooManyMarkers = markers.count * 1000 > lines * maxMarkersPerThousandLines;
const oversized = largest.some((file) => file.lines > maxSourceLines && !isGenerated(file.path));
process.stdout.write(tooManyMarkers || oversized ? "revise" : "approve");
