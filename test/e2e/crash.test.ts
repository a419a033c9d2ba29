import { it } from "vitest";
import { surviveKills } from "../support/kills.ts";
import { serveControlPlane } from "../support/served-control-plane.ts";
import { tempFolder } from "../support/temp-folder.ts";

it(
  "a control plane killed under load has every acknowledged pack whole, and no half one",
  { timeout: 120_000 },
  async () => {
    const dataDir = tempFolder();
    await surviveKills(6, () => serveControlPlane(dataDir));
  },
);
