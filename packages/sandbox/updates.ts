import type { Clock } from "./clock.ts";
import type { EndpointName } from "./endpoint-names.ts";
import type { ProviderModel } from "./provider-model.ts";

/** What goes on while a person works; a profile or a vehicle stays as it is. */
const livingEndpoints: ReadonlySet<EndpointName> = new Set([
  "income",
  "activity",
  "bonuses",
  "documents",
  "performance",
  "transactions",
  "trips",
  "wallet",
]);

/**
 * Fetches the data of connected accounts again at each interval of the clock: only what was fetched before, for an
 * operator that never asked for an endpoint gets no events about it.
 */
export function updatePeriodically(model: ProviderModel, clock: Clock, intervalMs: number): void {
  const plan = () => {
    clock.schedule(new Date(clock.now().getTime() + intervalMs), () => {
      updateAll(model);
      plan();
    });
  };
  plan();
}

function updateAll(model: ProviderModel): void {
  for (const account of model.accounts()) {
    if (!account.connected || account.deleted) continue;
    const endpoints = [...account.data.keys()].filter((endpoint) => livingEndpoints.has(endpoint));
    if (endpoints.length > 0) model.startFetch(account.id, endpoints);
  }
}
