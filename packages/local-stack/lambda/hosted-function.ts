import type { FunctionPlan } from "../assembly/plan.ts";
import type { AccountConcurrency } from "./account-concurrency.ts";
import {
  type Call,
  type FunctionProcess,
  type InvocationOutcome,
  type OnChunk,
  startFunctionProcess,
  timedOutType,
} from "./function-process.ts";
import { isLoop, nextTrace, recursionError } from "./lineage.ts";
import type { FunctionError, Held } from "./protocol.ts";

/** Lambda's limit for a synchronous request or response, in bytes. */
export const synchronousPayloadBytes = 6_291_556;

export type Outcome = InvocationOutcome | { readonly kind: "throttled" };

export type HostedFunction = ReturnType<typeof hostFunction>;

export type FunctionCounts = ReturnType<HostedFunction["counts"]>;

/** Code of a function; role, log group and concurrency stay as first hosted. */
export type Codes = readonly [FunctionPlan, ...FunctionPlan[]];

export type HostOptions = {
  readonly environmentOf: (plan: FunctionPlan) => Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
  /** Maximum processes for a function without reserved concurrency; further invocations queue. */
  readonly maximumProcesses: number;
  /** Concurrency that functions without a reservation share; absent: no limit. */
  readonly account?: AccountConcurrency;
  /** Minimum seconds for importing the handler, whatever its time-out; absent: Lambda's. */
  readonly shortestImport?: number;
};

/**
 * Hosts one function. Reuses warm processes (latest used first) and starts new ones within the concurrency.
 * Over its reserved concurrency or the account's, an invocation is throttled; over this machine's cap it
 * queues, where Lambda would scale.
 */
export function hostFunction(plan: FunctionPlan, options: HostOptions) {
  let served: readonly [Served, ...Served[]] = [serving(plan)];
  const working = new Set<FunctionProcess>();
  const waiting: (() => void)[] = [];
  const alive = new Set<FunctionProcess>();
  /** Killed on purpose: a failed import is not the handler's fault. */
  const killed = new WeakSet<FunctionProcess>();
  const initErrors = new Set<string>();
  const counts = { invocations: 0, errors: 0, throttles: 0, coldStarts: 0, running: 0, peak: 0 };
  const concurrency = plan.reservedConcurrency ?? options.maximumProcesses;
  let isClosed = false;

  const start = (code: Served): FunctionProcess => {
    counts.coldStarts += 1;
    return startProcess(code, alive, options);
  };

  const run = async (call: Call): Promise<InvocationOutcome> => {
    const code = served[0];
    served = nextInTurn(served);
    const begin = (): FunctionProcess => {
      const next = code.idle.pop() ?? start(code);
      working.add(next);
      return next;
    };
    let used = begin();
    let failure = await used.initialized;
    if (failure?.errorType === timedOutType) {
      // As on Lambda, an import that timed out starts again.
      working.delete(used);
      used = begin();
      failure = await used.initialized;
    }
    if (failure !== undefined && !killed.has(used))
      initErrors.add(`${failure.errorType}: ${failure.errorMessage}`);
    const outcome: InvocationOutcome =
      failure === undefined ? await used.invoke(call) : { kind: "failed", error: failure };
    working.delete(used);
    if (failure === undefined && alive.has(used) && !used.isKilled()) release(used, code);
    return limitResponse(outcome);
  };

  const release = (used: FunctionProcess, code: Served): void => {
    if (served.includes(code)) code.idle.push(used);
    else kill(used);
  };

  const kill = (victim: FunctionProcess): void => {
    killed.add(victim);
    victim.kill();
  };

  const takeIdle = (): FunctionProcess[] => served.flatMap(({ idle }) => idle.splice(0));

  const turn = async (): Promise<void> => {
    counts.running += 1;
    if (counts.running > concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
  };

  return {
    plan,
    /** Maximum concurrent invocations: reserved concurrency, or this machine's cap. */
    concurrency,
    /**
     * Invokes synchronously with JSON text. Never rejects.
     * @param traces trace headers of the requests that caused it
     * @param onChunk receives a streamed answer; absent: the payload holds all of it
     * @param invokedArn the function's own ARN or an alias's
     */
    invoke: async (
      event: string,
      traces: readonly string[] = [],
      onChunk?: OnChunk,
      invokedArn: string = plan.arn,
    ): Promise<Outcome> => {
      if (plan.recursiveLoop !== "Allow" && isLoop(plan.arn, traces)) {
        return { kind: "failed", error: recursionError(plan.name) };
      }
      const account = plan.reservedConcurrency === undefined ? options.account : undefined;
      const isOverReserve = plan.reservedConcurrency !== undefined && counts.running >= concurrency;
      if (isOverReserve || account?.take() === false) {
        counts.throttles += 1;
        return { kind: "throttled" };
      }
      await turn();
      counts.invocations += 1;
      counts.peak = Math.max(counts.peak, counts.running - waiting.length);
      const trace = nextTrace(plan.arn, traces);
      const outcome = isClosed ? closed : await run({ event, trace, onChunk, invokedArn });
      counts.running -= 1;
      account?.release();
      waiting.shift()?.();
      if (outcome.kind === "failed") counts.errors += 1;
      return outcome;
    },
    /**
     * Serves new invocations with these plans in turn: one is an update, two a traffic shift between versions.
     * Invocations in progress finish unchanged.
     */
    serve: ([first, ...others]: Codes): void => {
      const before = served;
      served = [serving(first, before), ...others.map((code) => serving(code, before))];
      for (const outdated of before.filter((known) => !served.includes(known))) {
        for (const victim of outdated.idle.splice(0)) kill(victim);
      }
    },
    /** Kills the busy processes; returns how many. */
    killWorking: () => [...working].map(kill).length,
    /** Kills all its processes, including idle ones; returns how many. */
    kill: () => [...working, ...takeIdle()].map(kill).length,
    measureMemory: async (): Promise<readonly Held[]> => {
      const held = await Promise.all(served.flatMap(({ idle }) => idle.map((each) => each.measureMemory())));
      return held.filter((each) => each !== undefined);
    },
    counts: () => ({ ...counts, running: counts.running - waiting.length }),
    initErrors: (): readonly string[] => [...initErrors],
    close: async (): Promise<void> => {
      isClosed = true;
      const exits = [...alive].map(({ exited }) => exited);
      for (const process of alive) kill(process);
      await Promise.all(exits);
    },
  };
}

/** Starts a process, which is alive and warm until it exits. */
function startProcess(
  { plan, idle }: Served,
  alive: Set<FunctionProcess>,
  { environmentOf, onLine, shortestImport }: HostOptions,
): FunctionProcess {
  const started = startFunctionProcess(plan, environmentOf(plan), onLine, shortestImport);
  alive.add(started);
  void started.exited.then(() => {
    alive.delete(started);
    const index = idle.indexOf(started);
    if (index >= 0) idle.splice(index, 1);
  });
  return started;
}

/** A plan with its warm processes, latest used last. */
type Served = { readonly plan: FunctionPlan; readonly idle: FunctionProcess[] };

/** Reuses the warm processes of a plan that is still served. */
function serving(plan: FunctionPlan, before: readonly Served[] = []): Served {
  return before.find((known) => known.plan === plan) ?? { plan, idle: [] };
}

/** Rotates several plans. */
function nextInTurn(served: readonly [Served, ...Served[]]): readonly [Served, ...Served[]] {
  const [last, first, ...rest] = served;
  return first === undefined ? served : [first, ...rest, last];
}

const closed: InvocationOutcome = {
  kind: "failed",
  error: { errorType: "Runtime.ExitError", errorMessage: "The local runner is closing" },
};

function limitResponse(outcome: InvocationOutcome): InvocationOutcome {
  if (outcome.kind === "failed" || Buffer.byteLength(outcome.payload) <= synchronousPayloadBytes)
    return outcome;
  const error: FunctionError = {
    errorType: "Function.ResponseSizeTooLarge",
    errorMessage: `Response payload size exceeded maximum allowed payload size (${synchronousPayloadBytes} bytes).`,
  };
  return { kind: "failed", error };
}
