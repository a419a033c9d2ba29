import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  visit,
  type Document,
  type Pair,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { keepComments } from "./yaml-node.ts";

/**
 * Replaces aliases and merge keys by what they stand for. Editing a node that is used in two places would
 * change both. Says whether there was anything to do. Expects a document whose aliases were found harmless by
 * `toJS`, which bounds how far they may expand.
 */
export function writeOutAliases(document: Document): boolean {
  let found = false;
  // In document order: what an alias stands for has lost its own aliases before it is copied.
  visit(document, {
    Alias: (_, alias) => {
      found = true;
      const copy = alias.resolve(document)?.clone();
      if (!isMap(copy) && !isSeq(copy) && !isScalar(copy)) return undefined;
      // The comments at the anchor are said once.
      delete copy.comment;
      delete copy.commentBefore;
      return keepComments(alias, copy);
    },
  });
  if (!found) return false;
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) delete node.anchor;
      if (isMap(node)) writeOutMerges(node);
    },
  });
  return true;
}

/** Own keys win, then the first source. */
function writeOutMerges(map: YAMLMap): void {
  for (;;) {
    const index = map.items.findIndex(isMerge);
    const [merge] = index === -1 ? [] : map.items.splice(index, 1);
    if (merge === undefined) return;
    const sources = isSeq(merge.value) ? merge.value.items : [merge.value];
    const inherited: Pair[] = [];
    for (const source of sources) {
      if (!isMap(source)) continue;
      writeOutMerges(source);
      const isNew = ({ key }: Pair): boolean =>
        !map.has(key) && !inherited.some((pair) => keyText(pair) === keyText({ key }));
      inherited.push(...source.items.filter(isNew));
    }
    const [first] = inherited;
    if (isScalar(first?.key)) moveComments([merge.key, merge.value], first.key);
    map.items.splice(index, 0, ...inherited);
  }
}

/** The comments at a merge key go above the first line that it stands for. */
function moveComments(from: readonly unknown[], to: Scalar): void {
  const comments = from.flatMap((node) => (isNode(node) ? [node.commentBefore, node.comment] : []));
  const all = [...comments, to.commentBefore].filter((comment) => typeof comment === "string");
  if (all.length > 0) to.commentBefore = all.join("\n");
}

function isMerge(pair: Pair): boolean {
  return keyText(pair) === "<<";
}

function keyText({ key }: { readonly key: unknown }): unknown {
  return isScalar(key) ? key.value : key;
}
