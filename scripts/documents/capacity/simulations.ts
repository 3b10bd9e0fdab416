import { demands } from "../../../proof/capacity/demands.ts";
import { measuredOutage, type Outage, simulatedOutage } from "../../../proof/capacity/measured-outage.ts";
import { readQuotas } from "../../../proof/capacity/quotas.ts";
import {
  type SimulationResult,
  type Stage,
  simulateBurst,
  simulateOutage,
} from "../../../proof/capacity/simulations.ts";
import { documentedSettings } from "../stage-settings.ts";

/** What the page reports; `npm run proof -- capacity` reports others. */
export const burst = { rate: 5, factor: 100, minutes: 10 } as const;
export const outage = { rate: 5, hours: 6 } as const;

/** The documented stage, in an account with the usual quota. */
export function documentedCapacity(): Stage {
  return {
    settings: documentedSettings(),
    perEvent: demands(),
    concurrency: readQuotas().quotas.concurrency.value,
  };
}

type Simulations = {
  readonly burst: SimulationResult;
  readonly outage: SimulationResult;
  readonly measured: Outage;
  readonly simulated: Outage;
};
let simulated: Simulations | undefined;

/** Reported once: each takes a second or more. */
export function simulations(): Simulations {
  const measured = measuredOutage();
  simulated ??= {
    burst: simulateBurst(documentedCapacity(), burst),
    outage: simulateOutage(documentedCapacity(), outage),
    measured,
    simulated: simulatedOutage(measured),
  };
  return simulated;
}
