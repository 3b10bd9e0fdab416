import { join } from "node:path";
import type { FunctionPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { invoke } from "@income-events/local-stack/system.ts";
import type { ProviderRead } from "./audit/find-unready.ts";
import { startProviderWire, type WireHooks } from "./faults/provider-wire.ts";
import { type Interference, type ObservedCall, observedCall } from "./observed-call.ts";
import type { ObserverMethods, ObserverOptions } from "./observers/main.ts";
import type { ProviderMethods } from "./provider/main.ts";
import { startRemote } from "./remote.ts";
import { deduplicationSeconds } from "./synthesize.ts";

/** A running stage, with the provider and the observers in their own processes. */
export type ChaosSystem = Awaited<ReturnType<typeof startChaosSystem>>;

export type ChaosOptions = {
  /** Directory of the synthesized stage. */
  readonly assembly: string;
  readonly seed: number;
  readonly directory: string;
  readonly engine?: DynamoDbEngine;
};

export async function startChaosSystem({ assembly, seed, directory, engine }: ChaosOptions) {
  await using starting = new AsyncDisposableStack();
  /** Files in which the processes record. */
  const files = {
    sent: join(directory, "sent.jsonl"),
    messages: join(directory, "messages.jsonl"),
    records: join(directory, "records.jsonl"),
  };
  const providerFile = new URL("./provider/main.ts", import.meta.url);
  const provider = starting.use(startRemote<ProviderMethods>(providerFile, [String(seed), files.sent]));
  const { url, token } = await provider.call("start");
  const stack = starting.adopt(
    await startStack({
      assembly,
      parameters: { ProviderBaseUrl: url },
      maximumProcesses: 2,
      deduplicationSeconds,
      ...(engine === undefined ? {} : { engine }),
    }),
    (running) => running.close(),
  );
  let interference: Interference = async () => undefined;
  const interfere: Interference = (call, phase) => interference(call, phase);
  const shortNames = new Map(stack.functions.map(({ name, logicalId }) => [name, shortName(logicalId)]));
  stack.gateway.intercept(observing(interfere, (name) => shortNames.get(name)));
  const reads: ProviderRead[] = [];
  const onFound = (target: string, sentAt: number) => void reads.push({ target, sentAt });
  const plans = await wireToProvider(stack, assembly, { providerUrl: url, interfere, onFound }, starting);
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const observed: ObserverOptions = {
    access,
    queues: subscribersOf(stack).map(({ name, queueUrl }) => ({ name, queueUrl })),
    streamArn: stack.tables.find((table) => table.streamArn !== undefined)?.streamArn ?? "",
    files,
  };
  const observersFile = new URL("./observers/main.ts", import.meta.url);
  const observers = starting.use(startRemote<ObserverMethods>(observersFile, [JSON.stringify(observed)]));
  await stack.setSecret(outputOf(stack, "TokenSecretArn"), JSON.stringify({ token }));
  await invoke(stack, outputOf(stack, "RegisterFunctionName"));
  const cleanup = starting.move();
  return {
    stack,
    /** The operator's clients of the engines. */
    access,
    provider,
    observers,
    /** Functions by their short names, for example `RelayChanges`. */
    functions: new Map(stack.functions.map((each) => [shortName(each.logicalId), each])),
    /** Current plans of the functions, by the same names. */
    plans,
    files,
    /** Functions' calls that the provider answered with data. */
    reads,
    /** Sets what decides every call of functions and their pollers from now on. */
    interfere: (decided: Interference) => {
      interference = decided;
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
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
