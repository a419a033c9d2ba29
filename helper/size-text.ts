/** `1 byte`, `5 bytes`. */
export function sizeText(bytes: number): string {
  return bytes === 1 ? "1 byte" : `${String(bytes)} bytes`;
}
