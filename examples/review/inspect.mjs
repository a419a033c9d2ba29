// Measures the tree that workflow.inputs.repo names and saves `summary` (text) and `findings` (JSON).
import { execFileSync } from "node:child_process";
import { opendirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const kit = process.env.WORKFLOW_KIT_DIR ?? "/opt/agent";
const { load, save } = await import(join(kit, "variables", "index.mjs"));

const maxFiles = 50_000;
const maxFileBytes = 4 * 1024 * 1024;
const listed = 5;
const markersListed = 20;
const skippedFolders = new Set(["node_modules"]);

const repo = resolve(load("workflow.inputs.repo"));
if (!statSync(repo, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(`${repo} is not a folder; choose one with --input repo=PATH`);
  process.exit(1);
}

const commits = lastCommits(repo);
const files = (commits === undefined ? undefined : trackedFiles(repo)) ?? walk(repo);
console.log(`measuring ${files.length} files in ${repo}`);

const measured = files.flatMap((path) => measure(path) ?? []);
const markers = measured.flatMap((file) => file.markers);
const findings = {
  repo,
  files: measured.length,
  lines: sum(measured, "lines"),
  bytes: sum(measured, "bytes"),
  largest: measured
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, listed)
    .map(({ path, bytes, lines }) => ({ path, bytes, lines })),
  markers: { count: markers.length, first: markers.slice(0, markersListed) },
  commits: commits ?? [],
};

save("findings", JSON.stringify(findings, null, 2));
save(
  "summary",
  `${findings.files} files, ${findings.lines} lines, ${findings.bytes} bytes, ` +
    `${markers.length} TODO markers` +
    (commits === undefined ? "; not a git repository" : `; last commit ${commits[0].date}`),
);

/** The newest commits, or undefined where `folder` is no git repository with any. */
function lastCommits(folder) {
  const log = git(folder, "log", `-${listed}`, "--format=%h%x00%cs%x00%s");
  if (log === undefined || log === "") return undefined;
  return log.split("\n").map((line) => {
    const [hash, date, subject] = line.split("\0");
    return { hash, date, subject };
  });
}

function trackedFiles(folder) {
  const list = git(folder, "ls-files", "-z");
  return list === undefined ? undefined : list.split("\0").filter(Boolean).slice(0, maxFiles);
}

function git(folder, ...args) {
  try {
    const options = {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    };
    return execFileSync("git", ["-C", folder, ...args], options).trimEnd();
  } catch {
    return undefined;
  }
}

/** Files below `folder`, relative to it; links and hidden folders are passed over. */
function walk(folder) {
  const found = [];
  const open = [""];
  while (open.length > 0 && found.length < maxFiles) {
    const relative = open.pop();
    let directory;
    try {
      directory = opendirSync(join(folder, relative));
    } catch {
      continue; // not ours to read
    }
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const path = join(relative, entry.name);
      if (entry.isFile()) found.push(path);
      else if (
        entry.isDirectory() &&
        !entry.name.startsWith(".") &&
        !skippedFolders.has(entry.name)
      ) {
        open.push(path);
      }
    }
    directory.closeSync();
  }
  return found.toSorted((a, b) => (a < b ? -1 : 1));
}

/** A file's size, and its lines and markers where it is text; undefined where it cannot be read. */
function measure(path) {
  const file = join(repo, path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  const binary = { path, bytes: stats.size, lines: 0, markers: [] };
  if (stats.size > maxFileBytes) return binary;
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return binary;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const marked = lines.flatMap((line, index) =>
    /\b(TODO|FIXME)\b/.test(line)
      ? [{ path, line: index + 1, text: line.trim().slice(0, 120) }]
      : [],
  );
  return { ...binary, lines: lines.length, markers: marked };
}

function sum(items, field) {
  return items.reduce((total, item) => total + item[field], 0);
}
