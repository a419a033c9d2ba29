import { randomBytes } from "node:crypto";

/** Without letters and digits that are read for one another. */
const alphabet = "23456789abcdefghjkmnpqrstvwxyz";

/** A run id that a person can read and that sorts by time: `20261231-235959-k7m2qx`. */
export function makeRunId(now: Date): string {
  const digits = now.toISOString().replaceAll(/[-:]/g, "").slice(0, 15).replace("T", "-");
  const suffix = [...randomBytes(6)].map((byte) => alphabet[byte % alphabet.length]).join("");
  return `${digits}-${suffix}`;
}
