import { describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { makePack, putPack } from "../../support/packs.ts";

type Item = Readonly<Record<string, unknown>>;

interface List {
  readonly path: string;
  readonly members: string;
  readonly idOf: (item: Item) => unknown;
  /** Adds one more, later than all that there are. */
  readonly add: (cp: TestControlPlane, name: string) => Promise<unknown>;
  /** Whether what is added while one reads comes on a later page. */
  readonly growsAtItsEnd: boolean;
}

const run = "paged";

const lists: Record<string, List> = {
  runs: {
    path: "/v1/runs",
    members: "runs",
    idOf: (item) => item["run"],
    add: (cp, name) => cp.createRun({ run: name, template: "t" }),
    growsAtItsEnd: false,
  },
  steps: {
    path: `/v1/runs/${run}/steps`,
    members: "steps",
    idOf: (item) => item["step"],
    add: (cp, name) => cp.stamp(run, { step: name }),
    growsAtItsEnd: true,
  },
  variables: {
    path: `/v1/runs/${run}/variables?prefix=Step-`,
    members: "variables",
    idOf: (item) => item["key"],
    add: async (cp, name) => {
      const { token } = await cp.stamp(run, { step: name });
      const body = await makePack({ run, step: name, values: { [`${name}.v`]: name } });
      expect((await putPack(cp.stepUrl, run, name, body, { token })).status).toBe(201);
    },
    growsAtItsEnd: true,
  },
};

async function startWith(list: List, names: readonly string[]): Promise<TestControlPlane> {
  const cp = await startControlPlane();
  await cp.createRun({ run, template: "t" });
  for (const name of names) await list.add(cp, name);
  return cp;
}

async function readPage(cp: TestControlPlane, { path, members, idOf }: List, query: string) {
  const url = `${path}${path.includes("?") ? "&" : "?"}${query}`;
  const { status, json } = await cp.operate("GET", url);
  expect(status).toBe(200);
  return { ids: (json[members] as Item[]).map(idOf), next: json["next"] as string | null };
}

async function readAll(
  cp: TestControlPlane,
  list: List,
  between: () => Promise<unknown> = async () => undefined,
): Promise<unknown[][]> {
  const pages = [];
  for (let query = "limit=2"; ;) {
    const { ids, next } = await readPage(cp, list, query);
    pages.push(ids);
    if (next === null) return pages;
    await between();
    query = `limit=2&cursor=${next}`;
  }
}

const names = ["step-a", "step-b", "step-c", "step-d"];

describe.each(Object.entries(lists))("a list of %s", (_, list) => {
  it("ends with the last page, also when that is full", async () => {
    const cp = await startWith(list, names);
    const { ids } = await readPage(cp, list, "limit=100");
    const pages = await readAll(cp, list);
    expect(pages.flat()).toEqual(ids);
    expect(pages.map((page) => page.length)).toEqual(ids.length === 4 ? [2, 2] : [2, 2, 1]);
  });

  it("gives each once, in order, while more are added", async () => {
    const cp = await startWith(list, names);
    const before = (await readPage(cp, list, "limit=100")).ids;
    let added = 0;
    const pages = await readAll(cp, list, async () => {
      added += 1;
      if (added <= 2) await list.add(cp, `step-x${String(added)}`);
    });
    const found = pages.flat();
    expect(found.slice(0, before.length)).toEqual(before);
    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(before.length + (list.growsAtItsEnd ? 2 : 0));
  });

  it.each([
    "limit=0",
    "limit=1001",
    "limit=x",
    "limit=1e2",
    "limit=",
    "cursor=%20",
    "cursor=",
    "cursor=..",
  ])("refuses %s", async (query) => {
    const cp = await startWith(list, []);
    const { path } = list;
    const { status, json } = await cp.operate(
      "GET",
      `${path}${path.includes("?") ? "&" : "?"}${query}`,
    );
    expect([status, json["code"]]).toEqual([400, "invalid_request"]);
    expect(json["detail"]).toMatch(new RegExp(`^${query.split("=")[0] ?? ""}: `));
  });
});

describe("a prefix", () => {
  it.each(["%00", "%C3%A9", "a%20", "x".repeat(1025)])(
    "that no key can start with is refused: %s",
    async (prefix) => {
      const cp = await startWith(lists["variables"] as List, []);
      const { status, json } = await cp.operate(
        "GET",
        `/v1/runs/${run}/variables?prefix=${prefix}`,
      );
      expect([status, json["code"]]).toEqual([400, "invalid_request"]);
    },
  );
});

describe("a cursor", () => {
  it.each([
    ["runs", "nobody"],
    ["steps", "999"],
    ["steps", "0"],
    // Larger than what a database counts with.
    ["steps", "2147483648"],
    // The event of the run's creation.
    ["steps", "1"],
  ])("of %s that no page gave is refused: %s", async (name, cursor) => {
    const list = lists[name] as List;
    const cp = await startWith(list, names);
    const { status, json } = await cp.operate("GET", `${list.path}?cursor=${cursor}`);
    expect([status, json["code"]]).toEqual([400, "invalid_request"]);
  });

  it("of variables is a place in their order, whether or not there is one", async () => {
    const list = lists["variables"] as List;
    const cp = await startWith(list, names);
    const { ids } = await readPage(cp, list, "cursor=step-b.zzz");
    expect(ids).toEqual(["step-c.v", "step-d.v"]);
  });
});
