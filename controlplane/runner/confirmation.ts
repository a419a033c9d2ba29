/**
 * True of what `wfvar set` and `wfvar unset` say of the step's own keys (WV-14): something that went well, and
 * no cause of a failure.
 */
export function isConfirmation(line: string, step: string): boolean {
  return line.startsWith(`${step}.`) && /^[a-z0-9._-]+: (?:\d+ bytes?|removed)$/.test(line);
}
