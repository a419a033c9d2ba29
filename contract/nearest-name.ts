/**
 * Bounds that keep a suggestion cheap on names made to be slow: a long name gets none, and of the candidates
 * of about its length only so many are compared.
 */
const maxNameLength = 64;
const maxCandidates = 256;

/** The known name that `name` was probably meant to be; undefined where none is near. The first of equals. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const folded = name.toLowerCase();
  // A name of one or two letters is within an edit or two of every other.
  let allowed = name.length < 3 ? 0 : name.length < 6 ? 1 : 2;
  let nearest: string | undefined;
  let candidates = 0;
  for (const candidate of known) {
    if (candidates === maxCandidates || allowed < 0) break;
    if (Math.abs(candidate.length - name.length) > allowed) continue;
    candidates += 1;
    const edits = countEdits(folded, candidate.toLowerCase(), allowed);
    if (edits <= allowed) [nearest, allowed] = [candidate, edits - 1];
  }
  return nearest;
}

/** ` (did you mean \`x\`?)`, or nothing. */
export function suggest(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : ` (did you mean \`${nearest}\`?)`;
}

/**
 * Letters changed, added, left out or swapped between `a` and `b`; Infinity where over `allowed`, which is
 * small.
 */
function countEdits(a: string, b: string, allowed: number): number {
  if (Math.abs(a.length - b.length) > allowed) return Infinity;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  const [x, y] = [a.slice(same), b.slice(same)];
  if (x === y) return 0;
  if (allowed === 0) return Infinity;
  const after = (skipX: number, skipY: number): number =>
    countEdits(x.slice(skipX), y.slice(skipY), allowed - 1);
  const swapped = x[0] === y[1] && x[1] === y[0] ? after(2, 2) : Infinity;
  return 1 + Math.min(after(1, 1), after(1, 0), after(0, 1), swapped);
}
