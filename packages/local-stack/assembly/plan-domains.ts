import { resolveValue } from "./intrinsics.ts";
import type { StackScope } from "./stack-scope.ts";

/**
 * The names that the template gives its one API, beside the address that AWS gives it. No name is served here: the
 * API's local address stands in the place of each.
 */
export function planDomains(scope: StackScope): readonly string[] {
  return [...scope.resources.values()]
    .filter(({ Type }) => Type === "AWS::ApiGatewayV2::DomainName")
    .map(({ Properties }) => String(resolveValue(Properties.DomainName, scope)));
}
