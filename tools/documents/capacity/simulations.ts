import { demands } from "../../../proof/capacity/demands.ts";
import { measuredOutage, modelledOutage, type Outage } from "../../../proof/capacity/measured-outage.ts";
import { readQuotas } from "../../../proof/capacity/quotas.ts";
import { type Stage, type Told, tellBurst, tellOutage } from "../../../proof/capacity/simulations.ts";
import { documentedSettings } from "../stage-settings.ts";

/** What the page tells; `npm run proof -- capacity` tells others. */
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

type Stories = {
  readonly burst: Told;
  readonly outage: Told;
  readonly measured: Outage;
  readonly modelled: Outage;
};
let told: Stories | undefined;

/** Told once: each takes a second or more. */
export function stories(): Stories {
  const measured = measuredOutage();
  told ??= {
    burst: tellBurst(documentedCapacity(), burst),
    outage: tellOutage(documentedCapacity(), outage),
    measured,
    modelled: modelledOutage(measured),
  };
  return told;
}
