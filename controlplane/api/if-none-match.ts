/** Whether an `If-None-Match` header names the tag (RFC 9110, 13.1.2). Tags here are digests: none has a comma in it. */
export function namesTag(header: string | undefined, tag: string): boolean {
  const named = header?.split(",").map((each) => each.trim().replace(/^W\//, "")) ?? [];
  return named.includes(tag) || named.includes("*");
}
