import { billedSeconds } from "../../scripts/documents/cost/bill.ts";
import type { parts } from "../bench/implementations.ts";
import { workload } from "../bench/workload.ts";
import { assumptions } from "../cost/assumptions.ts";
import { readCounts } from "../cost/counts.ts";
import type { PerEvent } from "./simulations.ts";

/** What an event asks of the services, of the counts in proof/cost/counts.json. */
export type Demands = PerEvent & {
  /** Invocations, by function's part. */
  readonly invocations: Readonly<Record<(typeof parts)[number], number>>;
  /** Seconds of an invocation. */
  readonly seconds: Readonly<Record<(typeof parts)[number], number>>;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly deliveriesOfBusiestRoute: number;
};

export function demands(): Demands {
  const { loads, memoryMb } = readCounts();
  const { usual } = loads;
  const used = usual.sides.ours;
  const per = (count: number) => count / usual.events;
  const of = (figure: (part: (typeof parts)[number]) => number) => ({
    receive: figure("receive"),
    store: figure("store"),
    relay: figure("relay"),
    fetch: figure("fetch"),
  });
  const seconds = of((part) => {
    const providerWaits = part === "fetch" ? used.providerWaits : 0;
    const all = billedSeconds(used.cpuMicros[part], used.waits[part], providerWaits, memoryMb[part]);
    return all / used.invocations[part];
  });
  const kinds = Object.values(Object.groupBy(workload(usual), ({ kind }) => kind));
  const busiest = Math.max(...kinds.map((deliveries) => deliveries.length));
  // To learn that it must wait, a batch reads the breaker and is sent again.
  const waitingBatch = (2 * assumptions.awsMillis) / 1_000 + 0.05;
  return {
    deliveries: per(usual.deliveries),
    tasks: per(used.providerCalls),
    shareOfBusiestRoute: busiest / usual.deliveries,
    deliveriesOfBusiestRoute: per(busiest),
    durations: { storeBatch: seconds.store, fetchBatch: seconds.fetch, waitingBatch, relay: 1 },
    invocations: of((part) => per(used.invocations[part])),
    seconds,
    writeUnits: per(used.writeUnits),
    readUnits: per(used.readUnits),
  };
}
