export const endpointNames = [
  "profile",
  "income",
  "employment",
  "activity",
  "assets",
  "banking-info",
  "bonuses",
  "documents",
  "performance",
  "transactions",
  "trips",
  "vehicles",
  "wallet",
] as const;

export type EndpointName = (typeof endpointNames)[number];

export function isEndpointName(name: string): name is EndpointName {
  return endpointNames.some((known) => known === name);
}
