import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { version } from "../../contract/version.ts";

const dockerfile = readFileSync("docker/Dockerfile", "utf8");
const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  devDependencies: Record<string, string>;
};

/** The images themselves are built and tried by `npm run test:system`. */
it("builds on the Node that everything is tested with, as this version", () => {
  const defaults = Object.fromEntries(
    [...dockerfile.matchAll(/^ARG (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(defaults).toMatchObject({
    NODE_IMAGE: `node:${String(devDependencies["node"])}-bookworm-slim`,
    VERSION: version,
  });
});

it("names every base image by an exact tag", () => {
  const images = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.*)$/gm)].map(([, image]) => image);
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) expect(image).toMatch(/^\$\{NODE_IMAGE\}$|:\d+\.\d+\.\d+-/);
});
