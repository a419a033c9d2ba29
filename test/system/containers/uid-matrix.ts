/** Who may read what whom left: every arrangement of uids, group and ends that a pod may have. */

export interface UidCase {
  readonly agentUid: number;
  readonly sidecarUid: number;
  readonly fsGroup?: number;
  readonly umask: "022" | "077";
  readonly end: "finalized" | "killed";
  /** Of a value that is written under that umask. */
  readonly delivered: boolean;
}

const agentUid = 1000;
const fsGroup = 3000;

export const uidMatrix: readonly UidCase[] = [
  { agentUid, sidecarUid: 1000, umask: "022", end: "finalized", delivered: true },
  { agentUid, sidecarUid: 1000, umask: "077", end: "finalized", delivered: true },
  { agentUid, sidecarUid: 1000, umask: "077", end: "killed", delivered: true },
  { agentUid, sidecarUid: 65_532, umask: "022", end: "finalized", delivered: true },
  { agentUid, sidecarUid: 65_532, umask: "077", end: "finalized", delivered: true },
  { agentUid, sidecarUid: 65_532, umask: "022", end: "killed", delivered: true },
  { agentUid, sidecarUid: 65_532, umask: "077", end: "killed", delivered: false },
  { agentUid, sidecarUid: 1000, fsGroup, umask: "077", end: "killed", delivered: true },
  { agentUid, sidecarUid: 65_532, fsGroup, umask: "077", end: "finalized", delivered: true },
  { agentUid, sidecarUid: 65_532, fsGroup, umask: "077", end: "killed", delivered: false },
];

/** As docs/images.md has it. */
export function matrixRow(row: UidCase): string {
  const { sidecarUid, umask, end, delivered } = row;
  const group = row.fsGroup === undefined ? "none" : "set";
  const uids = row.agentUid === sidecarUid ? "the same" : "two";
  const ending = end === "finalized" ? "exits" : "killed";
  const result = delivered ? "delivered" : "rejected: `unreadable`";
  return `| ${uids} | ${group} | ${umask} | ${ending} | ${result} |`;
}
