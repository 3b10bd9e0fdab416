import type { AccessRequest } from "./evaluate.ts";
import type { Policy, Statement } from "./policy.ts";

export type Grant = { readonly action: string; readonly resource: string };

export function grantsOf(policies: readonly Policy[]): readonly Grant[] {
  const allowing = policies
    .flatMap(({ statements }) => statements)
    .filter(({ effect }) => effect === "Allow");
  return distinct(allowing.flatMap(grantsIn));
}

/**
 * Returns the grant that a request depends on: without it, the request would be denied. Undefined if several
 * allow it.
 * @param allowing every statement that allows the request
 */
export function neededFor(
  request: Pick<AccessRequest, "action" | "resource">,
  allowing: readonly Statement[],
): Grant | undefined {
  const covering = allowing.map(({ actions, resources, ...rest }) => ({
    ...rest,
    actions: actions.filter((pattern) => pattern.test(request.action)),
    resources: resources?.filter((pattern) => pattern.test(request.resource)),
  }));
  const [grant, ...others] = distinct(covering.flatMap(grantsIn));
  return others.length === 0 ? grant : undefined;
}

function grantsIn({ actions, resources = [] }: Pick<Statement, "actions" | "resources">): readonly Grant[] {
  return actions.flatMap((action) =>
    resources.map((resource) => ({ action: patternText(action), resource: patternText(resource) })),
  );
}

/** Recovers the text of a pattern from `wildcardPattern`. */
function patternText({ source }: RegExp): string {
  return source
    .slice(1, -1)
    .replace(/\\(.)|\.\*|\./g, (found, escaped?: string) => escaped ?? (found === ".*" ? "*" : "?"));
}

function distinct(grants: readonly Grant[]): readonly Grant[] {
  return [...new Map(grants.map((grant) => [keyOf(grant), grant])).values()];
}

export function keyOf({ action, resource }: Grant): string {
  return `${action} on ${resource}`;
}
