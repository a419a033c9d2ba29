/** The longest `path` an issue carries; longer ones are cut. */
const maxPathLength = 512;

/**
 * A name from the agent's folder, made safe to log and to print: bytes outside printable ASCII, and the
 * backslash itself, become `\xNN`. Cut at 512 characters (WV-11).
 */
export function escapePath(path: Uint8Array): string {
  let escaped = "";
  for (const byte of path) {
    escaped +=
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, "0")}`;
    if (escaped.length >= maxPathLength) break;
  }
  return escaped.slice(0, maxPathLength);
}

/** Untrusted text on one line of a terminal: control characters and line ends become `\xNN` or `\u{…}`. */
export function escapeText(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- control characters are what this removes
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu,
    (char) => {
      const code = char.charCodeAt(0);
      return code < 0x100
        ? `\\x${code.toString(16).padStart(2, "0")}`
        : `\\u{${code.toString(16)}}`;
    },
  );
}
