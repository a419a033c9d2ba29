import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { podman } from "./engine.ts";
import { buildImages, imageOf } from "./images.ts";
import { Pod } from "./pod.ts";
import { serveImage, type ServedImage } from "./served-image.ts";

let cp: ServedImage;

beforeAll(async () => {
  await buildImages();
  cp = await serveImage();
});

afterAll(async () => {
  await cp[Symbol.asyncDispose]();
});

/** Prints what of the sidecar can be seen from the agent's container, as the same uid. */
const snoop = `
ls -d /var/run/secrets/wfvar /run/secrets/wfvar /opt/wfvar /dev/termination-log 2>/dev/null
cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -E '^WFVAR_|TOKEN'
cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep '[w]fvar-sidecar'
for root in /proc/[0-9]*/root; do ls -d $root/var/run/secrets/wfvar $root/opt/wfvar 2>/dev/null; done
grep -E 'secrets|termination-log' /proc/self/mountinfo
wfvar set -q verdict approve
`;

/** Tries to write where nothing should be writable, and says where it could. */
const scribble = `
for folder in / /bin /etc /home /opt/agent /opt/agent/finalize.d /opt/agent/variables /root /run /usr /var /var/tmp; do
  touch $folder/x 2>/dev/null && echo "$folder"
done
touch /tmp/x /variables/x || echo "not even /tmp and /variables"
python3 -c 'import variables' 2>/dev/null
wfvar set -q verdict approve
`;

describe.each(["agent-node", "agent-python"] as const)("in %s", (target) => {
  async function startPod(): Promise<{ pod: Pod; runId: string }> {
    const runId = await cp.createRun();
    const stamped = await cp.stamp(runId, "judge");
    const pod = new Pod({ stamped, cpUrl: cp.stepUrl, agentImage: imageOf[target] });
    await pod.start();
    return { pod, runId };
  }

  it("an agent of the sidecar's uid sees neither its token, environment, processes nor files", async () => {
    const { pod, runId } = await startPod();
    expect(await pod.runAgent(snoop)).toMatchObject({ code: 0, stdout: "" });
    expect((await pod.endSidecar()).code).toBe(0);
    expect(await cp.keys(runId, "judge.")).toEqual(["judge.verdict"]);
  });

  it("an agent that shared the sidecar's processes would see them: what inject refuses", async () => {
    const { pod } = await startPod();
    const { stdout } = await pod.runAgent(snoop, "--pid", `container:${pod.sidecarName}`);
    expect(stdout).toContain("WFVAR_TOKEN_FILE=/var/run/secrets/wfvar/token\n");
    expect(stdout).toMatch(/\/root\/var\/run\/secrets\/wfvar\n/);
    expect(stdout).toMatch(/\/root\/opt\/wfvar\n/);
  });

  it("nothing is written outside /variables and /tmp, by anyone", async () => {
    const { pod } = await startPod();
    expect(await pod.runAgent(scribble)).toMatchObject({ code: 0, stdout: "" });
    expect((await pod.endSidecar()).code).toBe(0);
    for (const container of [pod.prefillName, pod.sidecarName, pod.agentName, cp.container]) {
      expect(await changes(container)).toEqual([]);
    }
  });
});

/** What a container's root holds beside its image, but for the places that podman made to mount on. */
async function changes(container: string): Promise<string[]> {
  const [{ Mounts }] = JSON.parse(await podman("inspect", container)) as [
    { Mounts: { Destination: string }[] },
  ];
  const mounted = Mounts.map(({ Destination }) => `${Destination}/`);
  const lines = (await podman("diff", container)).split("\n").filter(Boolean);
  // It mounts hosts, hostname and resolv.conf into /etc.
  return lines.filter((line) => {
    const path = line.slice(2);
    return line !== "C /etc" && !mounted.some((place) => place.startsWith(`${path}/`));
  });
}
