import type { FunctionPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import type { Attempt } from "@income-events/sandbox/delivery/engine.ts";
import { eventIdsOf, identityOf } from "../scenario/traffic.ts";
import type { ProviderRead } from "./audit/find-unready.ts";
import { startProviderWire, type WireHooks } from "./faults/provider-wire.ts";
import { type Interference, type ObservedCall, observedCall } from "./observed-call.ts";
import { startObservers } from "./observers.ts";
import type { RunOptions } from "./options.ts";
import { type Records, writeRecords } from "./records.ts";
import { deduplicationSeconds, stage } from "./synthesize.ts";

/** A running stage with the provider, whose webhooks are recorded, and the observers. */
export type ChaosSystem = Awaited<ReturnType<typeof startChaosSystem>>;

export async function startChaosSystem({ assembly, seed, directory, engine }: RunOptions) {
  await using starting = new AsyncDisposableStack();
  const records: Records = { sent: [], messages: [], records: [] };
  // A failed run keeps them.
  starting.defer(() => writeRecords(directory, records));
  /** Maximum attempts of a webhook; undefined: until it is answered. */
  let tries: number | undefined;
  /** Distinct webhooks that were sent, for resending. */
  const sent = new Map<string, Pick<Attempt, "kind" | "body"> & { readonly subjects: readonly string[] }>();
  const onAttempt = ({ kind, body, result }: Attempt): void => {
    const subjects = subjectsIn(body);
    sent.set(identityOf({ kind, body }), { kind, body, subjects });
    records.sent.push(...eventIdsOf({ kind, body }).map((id) => ({ kind, id, subjects, ...result })));
  };
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
  const system = starting.adopt(
    await startSystem(
      { once: true, users: 0, stage, assembly, deduplicationSeconds, ...(engine && { engine }), ...ports },
      {
        seed,
        // Always near its end, so that each run of the refresher refreshes.
        tokenLifetimeSeconds: 600,
        pageSize: 2,
        delivery: {
          timeoutMs: 60_000,
          firstRetryMs: 200,
          maxRetryMs: 2_000,
          concurrency: 6,
          tries: () => tries,
          onAttempt,
        },
      },
      { progress: () => undefined, notice: () => undefined },
      () => undefined,
    ),
    (running) => running.close(),
  );
  const { stack, sandbox } = system;
  let interference: Interference = async () => undefined;
  const interfere: Interference = (call, phase) => interference(call, phase);
  const shortNames = new Map(stack.functions.map(({ name, logicalId }) => [name, shortName(logicalId)]));
  stack.gateway.intercept(observing(interfere, (name) => shortNames.get(name)));
  const reads: ProviderRead[] = [];
  const onFound = (target: string, sentAt: number) => void reads.push({ target, sentAt });
  const wiring = { providerUrl: sandbox.baseUrl, interfere, onFound };
  const plans = await wireToProvider(stack, assembly, wiring, starting);
  const cleanup = starting.move();
  return {
    ...system,
    observers: startObservers(system, records),
    /** Functions by their short names, for example `RelayChanges`. */
    functions: new Map(stack.functions.map((each) => [shortName(each.logicalId), each])),
    /** Current plans of the functions, by the same names. */
    plans,
    /** What was sent, stored and received. */
    records,
    /** Functions' calls that the provider answered with data. */
    reads,
    /** Sets what decides every call of functions and their pollers from now on. */
    interfere: (decided: Interference) => {
      interference = decided;
    },
    /** Limits the attempts of each webhook from now on; undefined: until it is answered. */
    limitTries: (most: number | undefined) => {
      tries = most;
    },
    /** Sends again what was sent about a person. */
    resendOf: (id: string) => {
      for (const { kind, body, subjects } of sent.values())
        if (subjects.includes(id)) sandbox.fireEvent(kind, body);
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

/** Provider ids in a body; none if it cannot be parsed. */
function subjectsIn(body: Buffer): readonly string[] {
  try {
    const { account_id, company_account_id, user_id, data } = Object(JSON.parse(body.toString()));
    return [account_id, company_account_id, user_id, Object(data).id].filter((id) => typeof id === "string");
  } catch {
    return [];
  }
}

function observing(interfere: Interference, functionOf: (name: string) => string | undefined): Interceptor {
  // The same object is passed before and after a call.
  const observed = new WeakMap<Call, ObservedCall>();
  return async (call, phase) => {
    const known = observed.get(call) ?? observedCall(call, functionOf);
    if (known === undefined) return undefined;
    observed.set(call, known);
    return interfere(known, phase);
  };
}

/** Gives each function its own URL of the provider, so that callers can be distinguished. */
async function wireToProvider(
  stack: LocalStack,
  assembly: string,
  { providerUrl, ...hooks }: WireHooks & { readonly providerUrl: string },
  cleanup: AsyncDisposableStack,
): Promise<ReadonlyMap<string, FunctionPlan>> {
  const plans = new Map(stack.functionsOf(assembly).map((plan) => [shortName(plan.logicalId), plan]));
  for (const [name, plan] of plans) {
    if (!Object.values(plan.environment).some((value) => value.includes(providerUrl))) continue;
    const wire = cleanup.use(await startProviderWire(providerUrl, name, hooks));
    const variables = Object.entries(plan.environment);
    const environment = variables.map(([name, value]) => [name, value.replaceAll(providerUrl, wire.url)]);
    const wired = { ...plan, environment: Object.fromEntries(environment) };
    plans.set(name, wired);
    stack.functions.find(({ logicalId }) => logicalId === plan.logicalId)?.serve([wired]);
  }
  return plans;
}

/** A logical id without CDK's additions. */
function shortName(logicalId: string): string {
  return logicalId.replace(/Function[0-9A-F]{8}$/, "");
}
