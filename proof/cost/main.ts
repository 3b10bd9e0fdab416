/**
 * Counts what events and an idle stack use, on this machine, into `counts.json`, which `docs/evidence/cost.md` and
 * `docs/evidence/capacity.md` are made of. `--help` says more.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { Command } from "commander";
import { type Implementation, implementations } from "../bench/implementations.ts";
import { documentOf } from "../bench/provider.ts";
import { workload } from "../bench/workload.ts";
import { countImplementation, type ImplementationCounts } from "./count-implementation.ts";
import { countTicks } from "./count-ticks.ts";
import { type Counts, countsFile, type LoadName } from "./counts.ts";
import { loadNames, loads } from "./loads.ts";

new Command("npm run proof -- cost")
  .description(
    "Counts requests, capacity and time of the documented loads, and writes proof/cost/counts.json.",
  )
  .addHelpText(
    "after",
    `
Examples:
  npm run proof -- cost && npm run docs    after a change of what functions call, write or log; some minutes`,
  )
  .parse();

const onProgress = (step: string) => void process.stderr.write(`${step}\n`);
const counted: Partial<Record<Implementation, ImplementationCounts>> = {};
for (const implementation of implementations)
  counted[implementation] = await countImplementation(implementation, loadNames, onProgress);
const of = (implementation: Implementation) => {
  const found = counted[implementation];
  if (found === undefined) throw new Error(`${implementation} was not counted`);
  return found;
};
const loadOf = (name: LoadName): Counts["loads"][LoadName] => {
  const { items, ...shape } = loads[name];
  const usedBy = (implementation: Implementation) => {
    const used = of(implementation).used.get(name);
    if (used === undefined) throw new Error(`${name} was not counted`);
    return used;
  };
  return {
    ...shape,
    deliveries: workload(shape).length,
    dataBytes: Buffer.byteLength(documentOf("", items)),
    sides: {
      ours: usedBy("ours"),
      powertools: usedBy("powertools"),
      plain: usedBy("plain"),
      floor: usedBy("floor"),
    },
  };
};
const counts: Counts = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} cores, ${cpus()[0]?.model ?? process.arch}, Node ${process.versions.node}`,
  memoryMb: of("ours").memoryMb,
  loads: {
    usual: loadOf("usual"),
    unrepeated: loadOf("unrepeated"),
    repeated: loadOf("repeated"),
    alone: loadOf("alone"),
    large: loadOf("large"),
    huge: loadOf("huge"),
  },
  ticks: [...(await countTicks(onProgress))],
};
writeFileSync(countsFile, `${JSON.stringify(counts, undefined, 2)}\n`);
onProgress("Written; now run npm run docs");
