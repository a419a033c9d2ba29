# Reads what inspect found and decides `verdict`. Values go through files, never through shell variables.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wfvar get inspect.findings >"$work/findings.json"
node "$WORKFLOW_FILE_DIR/review/judge.mjs" "$work/findings.json" >"$work/verdict"
wfvar set verdict --file "$work/verdict"
