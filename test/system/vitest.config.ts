import { defineConfig } from "vitest/config";

/** Tests that install what they need from the registries, and take minutes. */
export default defineConfig({
  test: {
    include: ["test/system/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    expect: { poll: { timeout: 60_000 } },
  },
});
