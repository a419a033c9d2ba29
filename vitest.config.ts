import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/system/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 20_000 } },
  },
});
