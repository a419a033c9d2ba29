import {
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  Scalar,
  stringify,
  YAMLSeq,
  type Document,
  type YAMLMap,
} from "yaml";

/** Reading and making the nodes of a `failsafe` document, whose scalars are text. */

/** The list at `key`, to add to; made where there is none, or an empty value. */
export function listIn(map: YAMLMap, key: string): YAMLSeq {
  const there = map.get(key, true) as unknown;
  if (isSeq(there)) {
    there.flow = false;
    return there;
  }
  const made = keepComments(there, new YAMLSeq());
  map.set(key, made);
  return made;
}

/** The text of a scalar; nothing for any other node. */
export function textOf(node: unknown): string {
  return isScalar(node) && typeof node.value === "string" ? node.value : "";
}

export function textIn(node: unknown, key: string): string | undefined {
  return isMap(node) && node.has(key) ? textOf(node.get(key, true)) : undefined;
}

/** Leaves a scalar that says so already as it is spelled. */
export function setScalar(map: YAMLMap, key: string, value: string | number | boolean): void {
  if (textIn(map, key) === String(value)) return;
  map.set(key, keepComments(map.get(key, true), toNode(value)));
}

/** What takes a node's place takes its comments too. */
export function keepComments<T>(from: unknown, to: T): T {
  if (!isNode(from) || !isNode(to)) return to;
  const { comment, commentBefore, spaceBefore } = from;
  if (comment) to.comment = comment;
  if (commentBefore) to.commentBefore = commentBefore;
  if (spaceBefore) to.spaceBefore = spaceBefore;
  return to;
}

/** A value as a node, quoted where any reader of YAML would take the plain text for something else. */
export function toNode(value: unknown): unknown {
  const text = stringify(value, { version: "1.1", compat: "core", aliasDuplicateObjects: false });
  return parseDocument(text, { schema: "failsafe" }).contents;
}

/** Writes every collection on the way to `path` in lines: what is added in brackets nobody can read. */
export function openPath(document: Document, path: readonly (string | number)[]): void {
  for (let depth = 0; depth <= path.length; depth += 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isCollection(node)) node.flow = false;
  }
}

/** Words in the quotes of those that a list has already. */
export function wordsLike(list: YAMLSeq, words: readonly string[]): Scalar[] {
  const [first] = list.items;
  const type = isScalar(first) && first.type?.startsWith("QUOTE") ? first.type : Scalar.PLAIN;
  return words.map((word) => Object.assign(new Scalar(word), { type }));
}

/** A comment above the item `name` of a list, for the reader of the manifest. */
export function commentAbove(list: YAMLSeq, name: string, comment: string): void {
  const item = list.items.find((one) => textIn(one, "name") === name);
  if (isMap(item)) item.commentBefore = ` ${comment}`;
}
