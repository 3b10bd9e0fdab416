import { z } from "zod";
import { type AdjustableClock, runningClock } from "./clock.ts";
import { startControl } from "./control/server.ts";
import { type Environment, type EnvironmentOptions, startEnvironment } from "./environment.ts";
import { openStore, type Store } from "./store.ts";

export type SandboxOptions = EnvironmentOptions & {
  /** Port of the sandbox environment on loopback; 0 (default): any free port. */
  readonly port?: number;
  /** Default: system time, moved by `advance`. */
  readonly clock?: AdjustableClock;
  /** Directory in which users, tokens and deliveries survive a restart; absent: in memory only. */
  readonly directory?: string | undefined;
  /** Port of the production environment, which runs only if set; 0: any free port. */
  readonly productionPort?: number;
  /** Port of the control API, which runs only if set; 0: any free port. */
  readonly controlPort?: number | undefined;
};

export type Sandbox = Environment & {
  /** Moves the clock forward and runs whatever becomes due, in order. */
  advance(seconds: number): Promise<void>;
  readonly production?: Environment;
  readonly control?: string;
};

/**
 * Starts the income-data service on loopback.
 * @throws the listening error (`EADDRINUSE`) if a port is taken; an error if the directory cannot be used
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { directory, port = 0, productionPort, controlPort } = options;
  await using cleanup = new AsyncDisposableStack();
  const store = openStore("sandbox", directory);
  const clock = options.clock ?? keptClock(store);
  const sandbox = await startEnvironment({ name: "sandbox", port, clock, store }, options);
  cleanup.defer(sandbox.close);
  const production =
    productionPort === undefined
      ? undefined
      : await startEnvironment(
          { name: "production", port: productionPort, clock, store: openStore("production", directory) },
          options,
        );
  if (production !== undefined) cleanup.defer(production.close);
  const environments = { sandbox, ...(production && { production }) };
  const advance = (seconds: number) => advanceAll(clock, Object.values(environments), seconds * 1000);
  const control =
    controlPort === undefined
      ? undefined
      : await startControl(controlPort, { ...environments, clock, advance });
  if (control !== undefined) cleanup.defer(control.close);
  const started = cleanup.move();
  return {
    ...sandbox,
    advance,
    ...(production && { production }),
    ...(control && { control: control.url }),
    close: () => started.disposeAsync(),
  };
}

const storedClock = z.object({ offset: z.number() });

/** System time plus the stored offset from earlier runs. */
function keptClock(store: Store): AdjustableClock {
  const kept = store.collection("clock", storedClock);
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

/** Advances from one due time to the next, so that days of retries happen in order. */
async function advanceAll(
  clock: AdjustableClock,
  environments: readonly Environment[],
  milliseconds: number,
): Promise<void> {
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
