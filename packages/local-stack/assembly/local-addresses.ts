import type { HttpApi } from "../api/http-api.ts";
import { executeApiOrigin } from "./identity.ts";
import type { StackPlan } from "./plan.ts";

/** Templates build the API's address from its id, as it would stand in AWS. */
export function withLocalAddresses(plan: StackPlan, api: HttpApi | undefined, region: string): StackPlan {
  if (api === undefined || plan.api === undefined) return plan;
  const origins = [
    executeApiOrigin(plan.api.id, region),
    ...plan.api.domains.map((domain) => `https://${domain}`),
  ];
  const localized = (value: string): string =>
    origins.reduce((text, origin) => text.replaceAll(origin, api.url), value);
  const localize = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, localized(value)]));
  return {
    ...plan,
    outputs: localize(plan.outputs),
    functions: plan.functions.map((planned) => ({ ...planned, environment: localize(planned.environment) })),
  };
}
