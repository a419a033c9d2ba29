import { version } from "../../contract/version.ts";

/** Prints help or version where the command line asks for it; false where it asks for neither. */
export function showPage(
  asked: { readonly help: boolean; readonly version: boolean },
  help: string,
  out: Pick<NodeJS.WritableStream, "write">,
): boolean {
  if (!asked.help && !asked.version) return false;
  out.write(asked.help ? help : `${version}\n`);
  return true;
}
