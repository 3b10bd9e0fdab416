import { type AdjustableClock, type Clock, isAdjustable, runningClock } from "./clock.ts";
import { startControl } from "./control/server.ts";
import { type Environment, type EnvironmentOptions, startEnvironment } from "./environment.ts";
import { fieldsOf, numberOf } from "./parse.ts";
import { openStore, type Store } from "./store.ts";

export type SandboxOptions = EnvironmentOptions & {
  /** Where the sandbox environment listens, on the loopback interface; 0 (default): a free port. */
  readonly port?: number;
  /** The system's time by default, moved by `advance`. */
  readonly clock?: Clock;
  /** Where users, tokens and deliveries are kept over a restart; unset: they end with the process. */
  readonly directory?: string;
  /** Runs the production environment as well, on this port; 0: a free one. */
  readonly productionPort?: number;
  /** Opens the control address on this port; 0: a free one. */
  readonly controlPort?: number;
};

/** The sandbox environment, and what stands beside it. */
export type Sandbox = Environment & {
  /** Moves the clock forward; whatever becomes due happens in its order. @throws with a clock that can't be moved */
  advance(seconds: number): Promise<void>;
  readonly production?: Environment;
  /** The control address. */
  readonly control?: string;
};

/**
 * Starts the income-data service on the loopback interface.
 * @throws the listening error (`EADDRINUSE`) if a port is taken; an error if the directory can't be used
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const store = openStore("sandbox", options.directory);
    const clock = options.clock ?? keptClock(store);
    const sandbox = await startEnvironment(
      { name: "sandbox", port: options.port ?? 0, clock, store },
      options,
    );
    closers.push(sandbox.close);
    const production = await startProduction(options, clock);
    if (production !== undefined) closers.push(production.close);
    const environments = production === undefined ? [sandbox] : [sandbox, production];
    const advance = (seconds: number) => advanceAll(clock, environments, seconds * 1000);
    const control =
      options.controlPort === undefined
        ? undefined
        : await startControl(options.controlPort, {
            sandbox,
            ...(production && { production }),
            clock,
            advance,
          });
    if (control !== undefined) closers.push(control.close);
    return {
      ...sandbox,
      advance,
      ...(production && { production }),
      ...(control && { control: control.url }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startProduction(options: SandboxOptions, clock: Clock): Promise<Environment | undefined> {
  const { productionPort: port, directory } = options;
  if (port === undefined) return undefined;
  return startEnvironment(
    { name: "production", port, clock, store: openStore("production", directory) },
    options,
  );
}

/** The system's time and what it was advanced by, before a restart too. */
function keptClock(store: Store): AdjustableClock {
  const kept = store.collection("clock", (value) => ({ offset: numberOf(fieldsOf(value), "offset") }));
  let { offset } = kept.get("current") ?? { offset: 0 };
  const clock = runningClock(offset);
  return {
    ...clock,
    advance: (milliseconds) => {
      offset += milliseconds;
      kept.set("current", { offset });
      clock.advance(milliseconds);
    },
  };
}

/** Goes from one due moment to the next, so that days of retries happen as they would, only sooner. */
async function advanceAll(
  clock: Clock,
  environments: readonly Environment[],
  milliseconds: number,
): Promise<void> {
  if (!isAdjustable(clock)) throw new Error("this sandbox was started with a clock that can't be moved");
  const quiet = () => Promise.all(environments.map((environment) => environment.quiet()));
  const target = clock.now().getTime() + milliseconds;
  await quiet();
  for (;;) {
    const now = clock.now().getTime();
    const next = clock.nextDue()?.getTime() ?? Number.POSITIVE_INFINITY;
    if (now >= target) return;
    clock.advance(Math.min(target, Math.max(now, next)) - now);
    await quiet();
  }
}
