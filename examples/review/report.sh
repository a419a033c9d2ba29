# Reads inspect's and judge's values and writes a Markdown `report`.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
  printf '# Review\n\nVerdict: **'
  wfvar get judge.verdict
  printf '**\n\n'
  wfvar get inspect.summary
  printf '\n\n'
} >"$work/report.md"
wfvar get inspect.findings >"$work/findings.json"
node "$WORKFLOW_FILE_DIR/review/findings-to-markdown.mjs" "$work/findings.json" >>"$work/report.md"
wfvar set report --file "$work/report.md"
