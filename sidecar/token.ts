import { readFile } from "node:fs/promises";
import { SidecarError } from "./sidecar-error.ts";

/** The step token as its file holds it now. Throws `config_invalid` where there is none. */
export async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new SidecarError("config_invalid", "WFVAR_TOKEN_FILE cannot be read", { cause: error });
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new SidecarError("config_invalid", "WFVAR_TOKEN_FILE does not hold a token");
  }
  return token;
}
