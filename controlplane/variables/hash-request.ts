import { createHash } from "node:crypto";
import { isJsonObject } from "../../contract/json.ts";
import { compareKeys } from "../../contract/key.ts";
import type { CreateRun, StampStep } from "../../contract/wire.ts";

/** Equal requests have equal hashes, in whatever order their members came. */
export function hashRequest(request: CreateRun | StampStep): string {
  const canonical = JSON.stringify(request, (_, value: unknown) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => compareKeys(a, b)))
      : value,
  );
  return createHash("sha256").update(canonical).digest("hex");
}
