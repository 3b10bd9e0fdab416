import { demands } from "../../../proof/capacity/demands.ts";
import { type KeyAnalysis, keyAnalyses } from "../../../proof/capacity/keys.ts";
import { type Limit, limitsOf } from "../../../proof/capacity/limits.ts";
import { readQuotas } from "../../../proof/capacity/quotas.ts";
import { about, table } from "../markdown.ts";
import { documentedSettings } from "../stage-settings.ts";

export const { quotas, date, note } = readQuotas();
export const perEvent = demands();
export const limits = limitsOf(documentedSettings(), perEvent);
export const rates = [1, 100, 10_000, 1_000_000];
const shownNext = 3;

export function ratesTable(): string {
  return table(
    ["events a second", "ends first", "and next", "to raise or change"],
    rates.map((rate) => {
      const ended = limits.filter(({ eventsPerSecond }) => eventsPerSecond < rate);
      const [first, ...next] = limits;
      const describe = (limit: Limit) => `${limit.name} (${shareUsed(limit, rate)})`;
      return [
        about(rate),
        first === undefined
          ? ""
          : ended.length === 0
            ? `nothing; nearest is ${describe(first)}`
            : describe(first),
        next.slice(0, shownNext).map(describe).join("; "),
        ended.length === 0 ? "nothing" : `${count(ended.length)} of the list below`,
      ];
    }),
  );
}

function shareUsed({ eventsPerSecond }: Limit, rate: number): string {
  const share = rate / eventsPerSecond;
  return share < 1 ? `${Math.round(share * 100)} % used` : `${about(share, 2)} times over`;
}

function count(many: number): string {
  return many === 1 ? "the first" : `the first ${many}`;
}

export function limitsTable(): string {
  return table(
    ["limit", "there is", "ends at events a second", "is", "then"],
    limits
      .filter(({ eventsPerSecond }) => Number.isFinite(eventsPerSecond))
      .map(({ name, value, unit, eventsPerSecond, by, remedy }) => [
        name,
        `${about(value, 6)} ${unit}`,
        about(eventsPerSecond, 2),
        by,
        remedy,
      ]),
  );
}

export function keysTable(): string {
  return table(
    ["key", "written by", "writes", "ends at", "then", "what helps"],
    Object.entries(keyAnalyses).map(([name, analysis]) => [
      `\`${name}\``,
      analysis.writtenBy,
      writesOf(analysis),
      endOf(analysis),
      analysis.outcome,
      analysis.helps,
    ]),
  );
}

const keyRates = { fetchBatches: perEvent.invocations.fetch };

function writesOf({ writes }: KeyAnalysis): string {
  if (writes.spread !== "none") return writes.what;
  return `${about(writes.perEvent(keyRates))} for each event, all in one partition`;
}

function endOf({ writes }: KeyAnalysis): string {
  const units = quotas.partitionWrites.value;
  switch (writes.spread) {
    case "subjects":
      return `${about(units, 6)} units a second of one subject`;
    case "none":
      return `${about(units / writes.perEvent(keyRates), 2)} events a second`;
    case "rare":
      return "no rate of events";
  }
}

export function quotasTable(): string {
  return `${table(
    ["quota", "default", "of", "raised on request", "source"],
    Object.values(quotas).map(({ name, value, per, adjustable, source }) => [
      name,
      about(value, 6),
      per,
      adjustable ? "yes" : "no",
      `[page](${source})`,
    ]),
  )}

${note}; on ${date}.`;
}
