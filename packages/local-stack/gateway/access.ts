import { type Decision, decide, type RequestContext } from "../iam/evaluate.ts";
import { type Grant, grantsOf, keyOf, neededFor } from "../iam/grants.ts";
import type { Policy } from "../iam/policy.ts";
import type { Need, Operation } from "./operation.ts";
import type { Call, Denial, Principal } from "./types.ts";

export type AccessBook = ReturnType<typeof createAccessBook>;

/** A registered caller, or a service, which has neither an ARN nor policies. */
type Caller = Pick<Principal, "name" | "policies"> & Partial<Pick<Principal, "arn">>;

/** The gateway stands for AWS's TLS endpoints, so every call counts as sent over TLS. */
const standingContext = { "aws:SecureTransport": "true" } as const;

export function createAccessBook() {
  const byAccessKey = new Map<string, Principal>();
  const byName = new Map<string, Principal>();
  const resourcePolicies = new Map<string, Policy>();
  const counts = new Map<string, number>();
  const denied: Denial[] = [];
  const needed = new Map<string, Set<string>>();
  let lastCallId = 0;

  function evaluate({ name, arn, policies }: Caller, need: Need): Decision {
    if (policies === "all") return { allowed: true, reason: `${name} may do everything` };
    const signer = arn === undefined ? {} : { "aws:PrincipalArn": arn };
    const decision = decide(
      {
        principal: arn ?? name,
        action: need.action,
        resource: need.resource,
        context: { ...standingContext, ...signer, ...need.context },
      },
      policies,
      resourcePolicies.get(policyHolder(need.resource)),
    );
    if (arn !== undefined) note(name, neededFor(need, decision.allowing ?? []));
    return decision;
  }

  function note(name: string, grant: Grant | undefined): void {
    if (grant === undefined) return;
    const known = needed.get(name) ?? new Set();
    needed.set(name, known.add(keyOf(grant)));
  }

  function record({ name }: Caller, { action, resource }: Need, { reason }: Decision): Denial {
    const denial = { principal: name, action, resource, reason };
    denied.push(denial);
    return denial;
  }

  return {
    register: (principal: Principal): void => {
      byAccessKey.set(principal.accessKeyId, principal);
      byName.set(principal.name, principal);
    },
    setResourcePolicy: (arn: string, policy: Policy): void => {
      resourcePolicies.set(arn, policy);
    },
    principal: (accessKeyId: string) => byAccessKey.get(accessKeyId),
    /** Checks every permission that an operation needs. Records and returns the first denial. */
    refusal: (principal: Principal, operation: Operation): Denial | undefined => {
      for (const need of operation.needs) {
        const decision = evaluate(principal, need);
        if (!decision.allowed) return record(principal, need, decision);
      }
      return undefined;
    },
    /** Whether a permission is granted; records nothing. */
    allows: (principal: Principal, need: Need) => evaluate(principal, need).allowed,
    /** Records a denial that policies did not cause. */
    deny: (denial: Denial): void => {
      denied.push(denial);
    },
    count: (
      principal: Principal,
      operation: Operation,
      request: Pick<Call, "isFromFunction" | "body">,
    ): Call => {
      const name = `${principal.name} ${operation.action}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      lastCallId += 1;
      const resources = operation.needs.map(({ resource }) => resource);
      return {
        id: lastCallId,
        principal: principal.name,
        service: operation.service,
        action: operation.action,
        resources,
        ...request,
      };
    },
    /**
     * Checks the permission of a caller inside the runner: event source pollers, the log writer, schedules.
     * @param name a registered name, or a service such as `events.amazonaws.com`
     * @param context condition keys, for example `{"aws:SourceArn": ruleArn}`; aws:SecureTransport is "true"
     */
    authorize: (name: string, action: string, resource: string, context: RequestContext = {}): Decision => {
      const caller = byName.get(name) ?? { name, policies: [] };
      const need = { action, resource, context };
      const decision = evaluate(caller, need);
      if (!decision.allowed) record(caller, need, decision);
      return decision;
    },
    /** Permissions of a caller's own policies, and whether a call so far was allowed by each alone. */
    permissionsOf: (name: string) => {
      const { policies = [] } = byName.get(name) ?? {};
      return grantsOf(policies === "all" ? [] : policies).map((grant) => ({
        ...grant,
        isNeeded: needed.get(name)?.has(keyOf(grant)) ?? false,
      }));
    },
    calls: (): ReadonlyMap<string, number> => counts,
    denials: (): readonly Denial[] => denied,
  };
}

/** The resource whose policy applies: for an object, its bucket. */
function policyHolder(resource: string): string {
  return resource.startsWith("arn:aws:s3:::") ? (resource.split("/")[0] ?? resource) : resource;
}
