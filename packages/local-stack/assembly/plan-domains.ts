import { referencesIn, resolveValue } from "./intrinsics.ts";
import type { StackScope } from "./stack-scope.ts";

/**
 * The names that the template gives an API, beside the address that AWS gives it. No name is served here: the API's local
 * address stands in the place of each.
 * @param api its logical id
 */
export function planDomains(api: string, scope: StackScope): readonly string[] {
  const mapped = [...scope.resources.values()]
    .filter(({ Type }) => Type === "AWS::ApiGatewayV2::ApiMapping")
    .map(({ Properties }) => referencesIn(Properties))
    .filter((references) => references.includes(api))
    .flat();
  return [...scope.resources]
    .filter(([id, { Type }]) => Type === "AWS::ApiGatewayV2::DomainName" && mapped.includes(id))
    .map(([, { Properties }]) => String(resolveValue(Properties.DomainName, scope)));
}
