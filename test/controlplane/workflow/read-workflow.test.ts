import { describe, expect, it } from "vitest";
import { dependsOn } from "../../../controlplane/workflow/depends-on.ts";
import { formatFindings, type Finding } from "../../../controlplane/workflow/finding.ts";
import type { WorkflowGraph } from "../../../controlplane/workflow/graph.ts";
import { readWorkflow } from "../../../controlplane/workflow/read-workflow.ts";
import { route } from "../../../controlplane/workflow/route.ts";

/** Ends and two scripts; tests add edges and attributes. */
const ends = "start [shape=Mdiamond]; exit [shape=Msquare]";
const scripts = 'node [shape=parallelogram, script="true"]; a; b';

function read(source: string): { graph: WorkflowGraph; warnings: readonly Finding[] } {
  const result = readWorkflow(source, "w.dot");
  if ("findings" in result) throw new Error(formatFindings(result.findings));
  return result;
}

function codesOf(source: string): string[] {
  const result = readWorkflow(source, "w.dot");
  return "findings" in result ? result.findings.map(({ code }) => code) : [];
}

/** `line:column code` of everything that was found. */
function placesOf(source: string): string[] {
  const result = readWorkflow(source, "w.dot");
  const findings = "findings" in result ? result.findings : result.warnings;
  return findings.map(({ line, column, code }) => `${String(line)}:${String(column)} ${code}`);
}

function messageOf(source: string, code: string): string {
  const result = readWorkflow(source, "w.dot");
  const findings = "findings" in result ? result.findings : result.warnings;
  return findings.find((finding) => finding.code === code)?.message ?? `no ${code}`;
}

describe("a workflow that runs", () => {
  const review = `
digraph review {
  goal = "Review the change"
  inputs = "work:text, base=main"
  rankdir = LR
  start   [shape=Mdiamond]
  inspect [shape=parallelogram, script="wfvar set files 3", label="Look", timeout="90s"]
  judge   [type=script, shape=box, script="wfvar set verdict \\"ok\\""]
  report  [shape=parallelogram, script="wfvar get judge.verdict"]
  exit    [shape=Msquare]
  start -> inspect -> judge -> report -> exit
  inspect -> report [label="files", color=gray]
}`;

  it("G-1 is read whole, without warnings", () => {
    const { graph, warnings } = read(review);
    expect(warnings).toEqual([]);
    expect(graph).toMatchObject({
      name: "review",
      goal: "Review the change",
      start: "start",
      exit: "exit",
      inputs: [
        { name: "work", kind: "text", required: true, fallback: undefined },
        { name: "base", kind: "text", required: false, fallback: "main" },
      ],
    });
    expect([...graph.nodes.keys()]).toEqual(["start", "inspect", "judge", "report", "exit"]);
    expect(graph.nodes.get("inspect")).toEqual({
      kind: "script",
      id: "inspect",
      label: "Look",
      script: "wfvar set files 3",
      timeoutMs: 90_000,
      at: { line: 7, column: 3 },
    });
    expect(graph.nodes.get("judge")).toMatchObject({
      label: "judge",
      script: 'wfvar set verdict "ok"',
      timeoutMs: undefined,
    });
    expect(graph.edges.at(-1)).toEqual({
      from: "inspect",
      to: "report",
      weight: 0,
      label: "files",
      at: { line: 12, column: 11 },
    });
  });

  it("G-4 routes to the target that sorts first, and by weight where one is given", () => {
    const { graph } = read(review);
    expect(route(graph, "start")?.to).toBe("inspect");
    expect(route(graph, "inspect")?.to).toBe("judge");
    expect(route(graph, "report")?.to).toBe("exit");
    expect(route(graph, "exit")).toBeUndefined();
    const weighed = review.replace('label="files"', "weight=2");
    expect(messageOf(weighed, "unreachable")).toContain(
      "after `inspect` the run always goes to `report` (weight 2 over 0)",
    );
  });

  it("G-4 takes the first in the source of two edges that are alike", () => {
    const { graph } = read(
      `digraph { ${ends} ${scripts} start -> a; a -> b [label=one]; a -> b [label=two]; b -> exit }`,
    );
    expect(route(graph, "a")?.label).toBe("one");
  });

  it("G-1 WV-9 makes a step depend on every step with an edge into it, once, and on no start", () => {
    const { graph } = read(review);
    expect(dependsOn(graph, "inspect")).toEqual([]);
    expect(dependsOn(graph, "judge")).toEqual(["inspect"]);
    expect(dependsOn(graph, "report")).toEqual(["judge", "inspect"]);
    const { graph: odd } = read(
      `digraph { ${ends} ${scripts} start -> a -> b -> exit; a -> b; b -> b; start -> b; b -> exit [weight=9] }`,
    );
    expect(dependsOn(odd, "b")).toEqual(["a"]);
  });

  it.each([
    ["only the ends", `digraph { ${ends} start -> exit }`],
    [
      "whole steps made by defaults",
      `digraph { ${ends} node [shape=parallelogram, script="true"] start -> a -> exit }`,
    ],
    [
      "any names for the ends",
      "digraph { Begin [shape=Mdiamond]; END_1 [shape=Msquare]; Begin -> END_1 }",
    ],
    ["ends by type", "digraph { s [type=start]; e [type=exit]; s -> e }"],
    [
      "values that ask for what happens anyway",
      `digraph { on_failure=stop default_max_retries=0 ${ends} a [shape=parallelogram, script="true", max_retries=0, goal_gate=false] start -> a -> exit [loop_restart=false] }`,
    ],
    [
      "braces of the script's own",
      `digraph { ${ends} a [shape=parallelogram, script="docker ps --format '{{.Names}}' {{ goals }} \${x} {{ text }}"] start -> a -> exit }`,
    ],
    [
      "subgraphs for the drawing",
      `digraph { goal=g; ${ends} subgraph cluster_x { label=x; ${scripts} } start -> a -> b -> exit }`,
    ],
    ["an empty list of inputs", `digraph { inputs=" " ${ends} start -> exit }`],
  ])("accepts %s", (_, source) => {
    expect(read(source).warnings).toEqual([]);
  });
});

describe("errors", () => {
  it.each([
    ["start_node", "no start", "digraph { exit [shape=Msquare] }", "add `start [shape=Mdiamond]`"],
    [
      "start_node",
      "two starts",
      `digraph { ${ends} s2 [shape=Mdiamond] start -> exit }`,
      "`start` is one already",
    ],
    [
      "start_node",
      "an edge into the start",
      `digraph { ${ends} ${scripts} start -> a -> b -> exit; b -> start }`,
      "no edge may enter",
    ],
    [
      "terminal_node",
      "no exit",
      "digraph { start [shape=Mdiamond] }",
      "add `exit [shape=Msquare]`",
    ],
    [
      "terminal_node",
      "two exits",
      `digraph { ${ends} e2 [shape=Msquare] start -> exit }`,
      "`exit` is one already",
    ],
    [
      "terminal_node",
      "an edge out of the exit",
      `digraph { ${ends} ${scripts} start -> a -> b -> exit -> a }`,
      "no edge may leave",
    ],
    [
      "bad_step_id",
      "an uppercase id",
      `digraph { ${ends} Build [shape=parallelogram, script="true"] start -> Build -> exit }`,
      "lowercase",
    ],
    [
      "bad_step_id",
      "a reserved word",
      `digraph { ${ends} switch [shape=parallelogram, script="true"] start -> switch -> exit }`,
      "reserved word",
    ],
    [
      "bad_step_id",
      "an iteration suffix",
      `digraph { ${ends} a_1 [shape=parallelogram, script="true"] start -> a_1 -> exit }`,
      "_<digits>",
    ],
    [
      "edge_target",
      "a mistyped target",
      `digraph { ${ends} a [shape=parallelogram, script="true"]; report [shape=parallelogram, script="true"] start -> a -> report -> exit; a -> reprot -> exit }`,
      "did you mean `report`",
    ],
    [
      "edge_target",
      "a target without a line of its own",
      `digraph { ${ends} start -> review -> exit }`,
      "only mentioned in edges",
    ],
    [
      "unreachable",
      "a step without edges",
      `digraph { ${ends} ${scripts} start -> a -> exit; b -> exit }`,
      "no edge leads to `b`",
    ],
    [
      "unreachable",
      "a circle apart",
      `digraph { ${ends} ${scripts} start -> exit; a -> b -> a -> exit }`,
      "no path leads from the start to `a`",
    ],
    [
      "dead_end",
      "a step that leads nowhere",
      `digraph { ${ends} ${scripts} start -> a -> exit; a -> b }`,
      "no edge leaves `b`",
    ],
    [
      "dead_end",
      "a circle without a way out",
      `digraph { ${ends} ${scripts} start -> a -> b -> a; start -> exit }`,
      "no path leads from `a` to the exit",
    ],
    [
      "dead_end",
      "a circle whose way out is never taken",
      `digraph { ${ends} ${scripts} start -> a -> b -> a; b -> exit }`,
      "`a -> b -> a` for ever; to leave it, give `b -> exit` a weight over 0",
    ],
    [
      "missing_script",
      "no script",
      `digraph { ${ends} a [shape=parallelogram] start -> a -> exit }`,
      "without a `script`",
    ],
    [
      "missing_script",
      "a blank script",
      `digraph { ${ends} a [shape=parallelogram, script=" \n"] start -> a -> exit }`,
      "without a `script`",
    ],
    [
      "bad_shape",
      "a shape of no step",
      `digraph { ${ends} a [shape=paralelogram, script="true"] start -> a -> exit }`,
      "did you mean `parallelogram`",
    ],
    [
      "bad_shape",
      "a type of no step",
      `digraph { ${ends} a [type=scrip, script="true"] start -> a -> exit }`,
      "did you mean `script`",
    ],
    [
      "bad_shape",
      "a script without a shape",
      `digraph { ${ends} a [script="true"] start -> a -> exit }`,
      "write shape=parallelogram",
    ],
    [
      "bad_attribute",
      "a timeout that is none",
      `digraph { ${ends} a [shape=parallelogram, script="true", timeout=30] start -> a -> exit }`,
      '"30s"',
    ],
    [
      "bad_attribute",
      "a timeout of nothing",
      `digraph { ${ends} a [shape=parallelogram, script="true", timeout="0s"] start -> a -> exit }`,
      '"30s"',
    ],
    [
      "bad_attribute",
      "a weight that is no whole number",
      `digraph { ${ends} start -> exit [weight=-1] }`,
      "from 0 to 999999",
    ],
    [
      "bad_attribute",
      "a NUL in a script",
      `digraph { ${ends} a [shape=parallelogram, script="a\0b"] start -> a -> exit }`,
      "NUL",
    ],
    [
      "bad_inputs",
      "an input of no kind",
      `digraph { inputs="a:txt" ${ends} start -> exit }`,
      "did you mean `text`",
    ],
    [
      "template_in_command",
      "a context template",
      `digraph { ${ends} a [shape=parallelogram, script="echo {{ context.x }}"] start -> a -> exit }`,
      "wfvar get STEP.KEY",
    ],
    [
      "template_in_command",
      "an inputs template",
      `digraph { ${ends} a [shape=parallelogram, script="echo {{inputs.x}}"] start -> a -> exit }`,
      "wfvar get workflow.inputs.NAME",
    ],
    [
      "template_in_command",
      "a goal template in a label",
      `digraph { ${ends} start -> exit [label="{{ goal }}"] }`,
      "only prompts are",
    ],
    [
      "not_supported",
      "an agent",
      `digraph { ${ends} a [prompt="Do {{ goal }}", outputs="x"] start -> a -> exit }`,
      "for want of a shape",
    ],
    [
      "not_supported",
      "an agent by its shape",
      `digraph { ${ends} a [shape=box, prompt="Do it"] start -> a -> exit }`,
      "shape=parallelogram with `script`",
    ],
    [
      "not_supported",
      "a conditional",
      `digraph { ${ends} a [shape=diamond] start -> a -> exit }`,
      "`conditional`",
    ],
    [
      "not_supported",
      "a gate",
      `digraph { ${ends} a [shape=hexagon] start -> a -> exit }`,
      "pass the answer as an input",
    ],
    [
      "not_supported",
      "a fan-out",
      `digraph { ${ends} a [shape=component] start -> a -> exit }`,
      "one after another",
    ],
    [
      "not_supported",
      "a fan-in",
      `digraph { ${ends} a [shape=tripleoctagon] start -> a -> exit }`,
      "one after another",
    ],
    [
      "not_supported",
      "a probe",
      `digraph { ${ends} a [shape=parallelogram, probe=pr, script="true"] start -> a -> exit }`,
      "loop over the folders",
    ],
    [
      "not_supported",
      "a condition",
      `digraph { ${ends} start -> exit [condition="outcome=fail"] }`,
      "`condition` on an edge",
    ],
    [
      "not_supported",
      "a restart",
      `digraph { ${ends} start -> exit [loop_restart=true] }`,
      "`loop_restart`",
    ],
    [
      "not_supported",
      "a loop",
      `digraph { ${ends} subgraph s { loop="r" ${scripts} } start -> a -> b -> exit }`,
      "`loop` on a subgraph",
    ],
    [
      "not_supported",
      "retries",
      `digraph { ${ends} a [shape=parallelogram, script="true", max_retries=3] start -> a -> exit }`,
      "try again inside the script",
    ],
    [
      "not_supported",
      "another image",
      `digraph { ${ends} a [shape=parallelogram, script="true", image="x:1"] start -> a -> exit }`,
      "`image`",
    ],
    [
      "not_supported",
      "failure routing",
      `digraph { on_failure=route ${ends} start -> exit }`,
      "`on_failure` on the graph",
    ],
    ["syntax", "what is not DOT", `digraph { ${ends} start -> exit`, "no closing `}`"],
    ["syntax", "HTML", `digraph { ${ends} start -> exit [label=<b>] }`, "HTML"],
    ["too_large", "braces without end", `digraph ${"{".repeat(1000)}`, "nested"],
  ])("G-5 %s: reports %s, and nothing else", (code, _, source, message) => {
    expect([...new Set(codesOf(source))]).toEqual([code]);
    expect(messageOf(source, code)).toContain(message);
  });

  it("G-5 reports everything that is wrong at once, in source order", () => {
    const source = `digraph {
  inputs = "a:text, A:text,
    b:nope"
  start [shape=Mdiamond]
  Go [shape=parallelogram, script="set -e
echo {{ context.x }} {{ goal }}", timout="1s"]
  judge [shape=box]
  exit [shape=Msquare]
  start:n -> Go -> judge -> exti [condition="x"]
}`;
    expect(placesOf(source)).toEqual([
      "2:21 bad_inputs",
      "3:5 bad_inputs",
      "5:3 bad_step_id",
      "6:6 template_in_command",
      "6:22 template_in_command",
      "6:35 inert_attribute",
      "7:3 not_supported",
      "9:8 syntax",
      "9:29 edge_target",
      "9:35 not_supported",
    ]);
  });

  it("G-5 says of a step that routing passes by which edge is taken instead, and why", () => {
    const source = `digraph { ${ends} ${scripts} c; start -> a -> b -> exit; a -> c -> exit }`;
    expect(codesOf(source)).toEqual(["unreachable"]);
    expect(messageOf(source, "unreachable")).toBe(
      "`c` is never run: after `a` the run always goes to `b` (equal weights, and `b` sorts before `c`); put `c` on that path, or give `a -> c` a weight over 0",
    );
  });

  it("G-5 names the first turn for a step that lies beyond others off the path", () => {
    const source = `digraph { ${ends} ${scripts} c; d; start -> a -> b -> exit [weight=3]; a -> c -> d -> exit }`;
    expect(codesOf(source)).toEqual(["unreachable", "unreachable"]);
    const result = readWorkflow(source, "w.dot");
    const messages = "findings" in result ? result.findings.map(({ message }) => message) : [];
    expect(messages[1]).toContain(
      "`d` is never run: after `a` the run always goes to `b` (weight 3 over 0)",
    );
  });

  it("says once what one default brings to many steps", () => {
    const source = `digraph { ${ends} node [max_retries=2, foo=1] ${scripts} start -> a -> b -> exit }`;
    expect(codesOf(source)).toEqual(["not_supported", "inert_attribute"]);
  });
});

describe("warnings", () => {
  const run = "start -> a -> b -> exit";
  it.each([
    [
      "inert_attribute",
      "a mistyped attribute",
      `digraph { ${ends} ${scripts} a [timout="3s"] ${run} }`,
      "did you mean `timeout`",
    ],
    [
      "inert_attribute",
      "a mistyped attribute of the graph",
      `digraph { gaol=x ${ends} ${scripts} ${run} }`,
      "did you mean `goal`",
    ],
    [
      "inert_attribute",
      "a script on the start",
      `digraph { ${ends} ${scripts} start [script="true"] ${run} }`,
      "means nothing on a start or exit node",
    ],
    [
      "inert_attribute",
      "an attribute of steps on an edge",
      `digraph { ${ends} ${scripts} ${run} [timeout="3s"] }`,
      "on an edge",
    ],
    [
      "inert_attribute",
      "inputs in a subgraph",
      `digraph { ${ends} { inputs="x" ${scripts} } ${run} }`,
      "on a subgraph",
    ],
    [
      "overwritten_attribute",
      "a step written twice",
      `digraph { ${ends} ${scripts} a [script="one"]\n a [script="two"] ${run} }`,
      "given at 1:",
    ],
    [
      "edge_never_taken",
      "an edge back",
      `digraph { ${ends} ${scripts} ${run} [weight=1]; b -> a }`,
      "after `b` the run always goes to `exit` (weight 1 over 0)",
    ],
    [
      "edge_never_taken",
      "a shortcut to the exit",
      `digraph { ${ends} ${scripts} ${run}; a -> exit }`,
      "equal weights, and `b` sorts before `exit`",
    ],
    [
      "edge_never_taken",
      "a shortcut from the start",
      `digraph { ${ends} ${scripts} ${run}; start -> b }`,
      "this edge does nothing",
    ],
  ])("G-5 %s: notices %s, and reads the graph all the same", (code, _, source, message) => {
    expect(read(source).warnings.map((warning) => warning.code)).toEqual([code]);
    expect(messageOf(source, code)).toContain(message);
  });

  it("does not notice attributes that only draw, nor defaults for steps at the ends", () => {
    const source = `digraph { fontname=x node [timeout="9s", color=red] edge [penwidth=2] ${ends} ${scripts} ${run} }`;
    expect(read(source).warnings).toEqual([]);
  });
});

describe("formatFindings", () => {
  it("G-5 writes one line per finding: file, line, column, severity, code, message", () => {
    const source = 'digraph {\n start [shape=Mdiamond, foo=1]\n "e\nx" [shape=Msquare]\n }';
    const result = readWorkflow(source, "flows/w.dot");
    expect("findings" in result && formatFindings(result.findings)).toBe(
      [
        "flows/w.dot:2:2: error dead_end: no edge leaves `start`; lead it on to the exit\n",
        "flows/w.dot:2:25: warning inert_attribute: `foo` means nothing on a start or exit node\n",
      ].join(""),
    );
  });

  it("keeps a finding on its line, whatever the file calls its steps", () => {
    const source = `digraph { ${ends} "x\n\u001b[31m" [shape=parallelogram, script="true"] start -> exit }`;
    const result = readWorkflow(source, "w.dot");
    const text = "findings" in result ? formatFindings(result.findings) : "";
    expect(text).toContain("`x\\x0a\\x1b[31m`");
    expect(text.split("\n").filter((line) => !/^w\.dot:\d+:\d+: error /.test(line))).toEqual([""]);
  });
});
