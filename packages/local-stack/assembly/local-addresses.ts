import type { HttpApi } from "../api/http-api.ts";
import { executeApiOrigin } from "./identity.ts";
import type { StackPlan } from "./plan.ts";

/** Templates name addresses as they would be in AWS: the API's is built from its id, a function's URL is an attribute. */
export function withLocalAddresses(
  plan: StackPlan,
  apis: ReadonlyMap<string, HttpApi>,
  urls: ReadonlyMap<string, string>,
  region: string,
): StackPlan {
  const replaced: readonly (readonly [string, string])[] = [
    ...plan.apis.flatMap(({ logicalId, id, domains }) => {
      const addresses = [executeApiOrigin(id, region), ...domains.map((domain) => `https://${domain}`)];
      return addresses.map((address) => [address, apis.get(logicalId)?.url ?? address] as const);
    }),
    ...plan.urls.map(({ logicalId, url }) => [url, urls.get(logicalId) ?? url] as const),
  ];
  const localized = (value: string): string =>
    replaced.reduce((text, [address, local]) => text.replaceAll(address, local), value);
  const localize = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, localized(value)]));
  return {
    ...plan,
    outputs: localize(plan.outputs),
    functions: plan.functions.map((planned) => ({ ...planned, environment: localize(planned.environment) })),
  };
}
