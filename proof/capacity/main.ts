/** Reports what ends first, and how a burst or an outage of the provider goes. `--help` lists the options. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSettings } from "../../lib/settings/settings.ts";
import { documentedCapacity } from "../../scripts/documents/capacity/simulations.ts";
import { about } from "../../scripts/documents/markdown.ts";
import { demands } from "./demands.ts";
import { describeSummary } from "./describe-summary.ts";
import { type Limit, limitsOf } from "./limits.ts";
import { type CapacityFlags, parseCapacityFlags } from "./options.ts";
import { simulationChart } from "./simulation-chart.ts";
import { type SimulationResult, type Stage, simulateBurst, simulateOutage } from "./simulations.ts";

const print = (text = "") => void process.stdout.write(`${text}\n`);

function stageOf({ stage, concurrency }: CapacityFlags): Stage {
  const documented = { ...documentedCapacity(), concurrency };
  if (stage === undefined) return documented;
  return { ...documented, settings: loadSettings(stage, join(import.meta.dirname, "../../stages")) };
}

function reportLimits(limits: readonly Limit[], rate: number): void {
  print(`At ${about(rate)} events a second, the first to end first:`);
  for (const { name, eventsPerSecond, remedy } of limits) {
    const isOver = eventsPerSecond < rate;
    print(`${isOver ? "  OVER " : "  ok   "}${about(eventsPerSecond, 2).padStart(8)}/s  ${name}`);
    if (isOver) print(`                   ${remedy}`);
  }
}

function reportSimulation(title: string, result: SimulationResult, svg: string | undefined): void {
  print();
  print(title);
  for (const [figure, value] of describeSummary(result)) print(`  ${value.padStart(28)}  ${figure}`);
  if (svg !== undefined) writeFileSync(svg, simulationChart(title, result));
}

const flags = parseCapacityFlags(process.argv.slice(2));
const { rate, burst, burstMinutes, outageHours, svg } = flags;
try {
  const stage = stageOf(flags);
  const limits = limitsOf(stage.settings, demands());
  reportLimits(
    limits.filter(({ eventsPerSecond }) => Number.isFinite(eventsPerSecond)),
    rate,
  );
  if (burst !== undefined) {
    const title = `${about(burst)} times ${about(rate)} events a second for ${about(burstMinutes)} minutes`;
    reportSimulation(title, simulateBurst(stage, { rate, factor: burst, minutes: burstMinutes }), svg);
  }
  if (outageHours !== undefined) {
    const title = `The provider's API is down for ${about(outageHours)} h, at ${about(rate)} events a second`;
    reportSimulation(title, simulateOutage(stage, { rate, hours: outageHours }), svg);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
