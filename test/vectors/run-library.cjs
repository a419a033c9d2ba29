"use strict";
// Runs the calls of many vectors in one Node, of whatever version, each with its own environment, and prints what
// came of them: what run_library.py says, for JavaScript. The argument is the module's path.
const { readFileSync } = require("node:fs");

const { keys, load, save, VariablesError } = require(process.argv[2]);
const calls = { load, save, keys };
const variables = ["WORKFLOW_VARIABLES_ROOT", "WORKFLOW_VARIABLES_SELF"];

function run(vector) {
  for (const name of variables) delete process.env[name];
  Object.assign(process.env, vector.env);
  const name = Object.keys(calls).find((each) => each in vector);
  try {
    return { result: calls[name](...vector[name]) ?? null };
  } catch (error) {
    if (!(error instanceof VariablesError)) throw error;
    const { code, message, key = null, size = null, limit = null } = error;
    return { code, message, key, size, limit };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(run)));
