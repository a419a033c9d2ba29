/** Words that cannot be step or loop ids, compared in lowercase (WV-3). The only such list. */
export const reservedWords: ReadonlySet<string> = new Set(
  [
    "workflow",
    "while for foreach loop until do repeat",
    "if else elif elseif then switch case default when",
    "break continue return goto yield",
    "try catch except finally raise throw",
    "and or not xor in is",
    "true false null none nil yes no on off",
  ].flatMap((line) => line.split(" ")),
);
