import { benchCommands } from "./commands.ts";
import { benchControlPlane } from "./control-plane.ts";
import { benchLoad } from "./load.ts";
import { benchPython } from "./python.ts";
import { benchSidecar } from "./sidecar.ts";
import { benchWalk } from "./walk.ts";

/**
 * Every figure is a ratio against a floor measured in the same run: these numbers mean the same on any
 * machine.
 */
for (const bench of [
  benchCommands,
  benchLoad,
  benchPython,
  benchSidecar,
  benchWalk,
  benchControlPlane,
]) {
  for (const { name, ratio, floor } of await bench()) {
    console.log(`${name.padEnd(44)} ${ratio.toFixed(2).padStart(6)} × ${floor}`);
  }
}
