import { readFile } from "node:fs/promises";
import { errnoOf } from "./descriptor.ts";
import { SidecarError } from "./sidecar-error.ts";

/** The step token as its file holds it now. Throws `config_invalid` where there is none. */
export async function readToken(file: string): Promise<string> {
  let token: string;
  try {
    token = (await readFile(file, "utf8")).trim();
  } catch (error) {
    const why = `WFVAR_TOKEN_FILE cannot be read (${errnoOf(error)}): mount the step's token there, mode 0444`;
    throw new SidecarError("config_invalid", why, { cause: error });
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new SidecarError(
      "config_invalid",
      token === ""
        ? "WFVAR_TOKEN_FILE is empty: it holds the token that stamping the step gave"
        : "WFVAR_TOKEN_FILE does not hold a token: it is one line of printable ASCII",
    );
  }
  return token;
}
