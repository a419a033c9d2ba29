import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StampedStep } from "../../contract/wire.ts";
import { freePort } from "../support/free-port.ts";
import { makePack, putPack } from "../support/packs.ts";
import { startPostgres } from "../support/postgres.ts";
import { serveControlPlane, type ServedControlPlane } from "../support/served-control-plane.ts";
import { podEnv, runSidecar } from "../support/sidecar.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { followEvents } from "../support/event-source.ts";

const guide = readFileSync("docs/production.md", "utf8");

function blockOf(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(guide)?.[1] ?? "";
}

describe("several replicas over the database of docs/production.md", () => {
  it("answer for one another: stamps, packs, events, leases", async () => {
    await using postgres = await startPostgres();
    const admin = new URL(await postgres.createDatabase());
    const client = new Client({ connectionString: admin.href });
    await client.connect();
    for (const statement of blockOf("sql").split(";\n").filter(Boolean))
      await client.query(statement.replaceAll("wfvar", "production"));
    await client.end();
    const secrets = tempFolder();
    const env = {
      DATABASE_URL: `postgres://production@${admin.host}/production`,
      PGPASSWORD: "change me",
      WFVAR_OPERATOR_TOKEN_FILE: join(secrets, "operator-token"),
      WFVAR_STEP_KEY_FILE: join(secrets, "step-key.json"),
      WFVAR_TOKEN_GRACE: "1s",
    };
    const [one, two] = await Promise.all([
      serveControlPlane(tempFolder(), 0, env),
      serveControlPlane(tempFolder(), 0, env),
    ]);
    await one.call("POST", "/v1/runs", { run: "shared", template: "t" });
    const follower = await followEvents(`${two.operatorUrl}/v1/runs/shared/events`, {
      authorization: `Bearer ${two.operatorToken}`,
    });
    const stamped = (await (
      await one.call("POST", "/v1/runs/shared/steps", { step: "judge" })
    ).json()) as StampedStep;
    await one.call("POST", "/v1/runs/shared/steps", {
      step: "lost",
      deadline: new Date().toISOString(),
    });
    const body = await makePack({ run: "shared", step: "judge", values: { "judge.v": "1" } });
    const answer = await putPack(two.stepUrl, "shared", "judge", body, { token: stamped.token });
    expect(answer.status).toBe(201);
    const events = await follower.take(6);
    expect(events.map(({ id, event, data }) => [id, event, data["step"], data["status"]])).toEqual([
      [1, "run_created", undefined, undefined],
      [2, "step_stamped", "judge", undefined],
      [3, "step_stamped", "lost", undefined],
      [4, "step_claimed", "judge", undefined],
      [5, "step_ended", "judge", "succeeded"],
      [6, "step_ended", "lost", "failed"],
    ]);
    expect((await undelivered(one)) + (await undelivered(two))).toBe(1);
    // The largest that PostgreSQL counts with.
    expect((await two.call("GET", "/v1/runs/shared/steps?cursor=2147483647")).status).toBe(400);
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
  });
});

async function undelivered({ operatorUrl }: ServedControlPlane): Promise<number> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text();
  return Number(/^wfvar_undelivered_steps_total (.*)$/m.exec(text)?.[1]);
}

describe("nginx as docs/production.md sets it up", () => {
  it("takes steps from prefill to pack over TLS, passes events on at once, and keeps the listeners apart", async () => {
    const cp = await serveControlPlane(tempFolder());
    const proxy = await startNginx(cp);
    const operate = (path: string, flags: readonly string[] = []) =>
      curl(proxy.ca, [
        ...flags,
        "-H",
        `Authorization: Bearer ${cp.operatorToken}`,
        `${proxy.operatorUrl}${path}`,
      ]);
    await cp.call("POST", "/v1/runs", {
      run: "mine",
      template: "t",
      inputs: { large: "x".repeat(1_000_000) },
    });
    const stamped = (await (
      await cp.call("POST", "/v1/runs/mine/steps", { step: "judge" })
    ).json()) as StampedStep;
    const root = tempFolder();
    const env = {
      ...podEnv(stamped, root, proxy.stepUrl),
      WFVAR_CA_FILE: proxy.ca,
      WORKFLOW_VARIABLES_SELF: join(root, "judge"),
    };
    expect(await runSidecar("prefill", env)).toMatchObject({ code: 0 });
    // More than a proxy takes by default.
    for (const name of ["A", "B", "C"])
      writeFileSync(join(root, "judge", name), "x".repeat(1_000_000));
    execFileSync(process.execPath, ["dist/agent/lib/entrypoint.cjs", "--", "true"], {
      env: {
        ...process.env,
        WORKFLOW_VARIABLES_ROOT: root,
        WORKFLOW_VARIABLES_SELF: join(root, "judge"),
      },
    });
    expect(await runSidecar("pack", env)).toMatchObject({ code: 0 });
    expect(operate("/v1/runs/mine/variables/judge.c")).toHaveLength(1_000_000);
    expect(operate("/v1/runs/mine/events", ["-N", "--max-time", "2"])).toContain(
      "event: step_ended\n",
    );
    const status = ["-o", "/dev/null", "-w", "%{http_code}"];
    expect(curl(proxy.ca, [...status, `${proxy.stepUrl}/metrics`])).toBe("404");
    expect(curl(proxy.ca, [...status, `${proxy.stepUrl}/v1/runs`])).toBe("404");
    expect(operate("/v1/runs/mine/steps/judge/variables?attempt=1", status)).toBe("404");
  });
});

/** The configuration of the guide, with this machine's addresses and files. */
async function startNginx(cp: ServedControlPlane) {
  installNginx();
  const folder = tempFolder();
  mkdirSync(join(folder, "etc"));
  const [key, ca] = [join(folder, "etc/tls.key"), join(folder, "etc/tls.crt")];
  execFileSync(
    "openssl",
    `req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${ca}`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
  const [stepPort, operatorPort] = [await freePort(), await freePort()];
  const addresses: readonly (readonly [RegExp, string])[] = [
    [/^ *server 10\.0\.0\.12.*\n/gm, ""],
    [/10\.0\.0\.11:8411/g, new URL(cp.stepUrl).host],
    [/10\.0\.0\.11:8410/g, new URL(cp.operatorUrl).host],
    [/0\.0\.0\.0:8443/g, `127.0.0.1:${String(stepPort)}`],
    [/127\.0\.0\.1:8444/g, `127.0.0.1:${String(operatorPort)}`],
    [/\/etc\/wfvar\//g, `${folder}/etc/`],
  ];
  const http = addresses.reduce((text, [from, to]) => text.replaceAll(from, to), blockOf("nginx"));
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `pid ${folder}/pid; error_log ${folder}/error.log; events {}
     http { access_log off; ${paths.join(" ")} ${http} }`,
  );
  const nginx = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    stdio: "inherit",
  });
  onTestFinished(() => void nginx.kill("SIGTERM"));
  const operatorUrl = `https://127.0.0.1:${String(operatorPort)}`;
  await expect
    .poll(() => existsSync(join(folder, "pid")) && curl(ca, [`${operatorUrl}/readyz`]))
    .toBe('{"status":"ok"}');
  return { ca, operatorUrl, stepUrl: `https://127.0.0.1:${String(stepPort)}` };
}

function installNginx(): void {
  if (existsSync("/usr/sbin/nginx")) return;
  execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "nginx-light"], {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}

/** What curl says, whatever its exit code. */
function curl(ca: string, args: readonly string[]): string {
  try {
    return execFileSync("curl", ["-sS", "--cacert", ca, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    return String((error as { stdout: unknown }).stdout);
  }
}
