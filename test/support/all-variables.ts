import type { VariableView } from "../../contract/wire.ts";
import type { ServedControlPlane } from "./served-control-plane.ts";

/** Every variable of a run, page by page. */
export async function readAllVariables(
  cp: Pick<ServedControlPlane, "call">,
  run: string,
): Promise<VariableView[]> {
  const all: VariableView[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const answer = await cp.call("GET", `/v1/runs/${run}/variables?limit=1000${query}`);
    const page = (await answer.json()) as { variables: VariableView[]; next: string | null };
    all.push(...page.variables);
    cursor = page.next;
  }
  return all;
}
