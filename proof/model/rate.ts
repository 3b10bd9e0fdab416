import fc from "fast-check";
import { nameOf } from "../../adapters/dynamodb/batching.ts";
import { RateLimiter } from "../../adapters/provider/rate-limiter.ts";
import { reservableCalls } from "../../domain/fetch/call-limits.ts";
import { faults, Process } from "./processes.ts";

const minute = 60_000;
/** Lambda ends an invocation after 15 minutes. */
const longestInvocation = 15 * minute;

type Call = { readonly ended?: (() => void) | undefined; hasArrived: boolean };

/** An environment of the fetch function: one invocation at a time, frozen in between. */
class Environment {
  readonly process = new Process("fetch", Number.POSITIVE_INFINITY, 0);
  readonly limiter: RateLimiter;
  readonly calls: Call[] = [];
  /** Whether its monotonic clock goes on while it is frozen. */
  readonly #isAwake: boolean;
  #elapsed = 0;
  /** When its invocation began, and DynamoDB's time that it read then. */
  invocation: { readonly began: number; readonly serviceTime: number } | undefined;
  waiting = 0;

  constructor(world: RateWorld, isAwake: boolean) {
    this.#isAwake = isAwake;
    this.limiter = new RateLimiter(
      {
        take: (key, _, calls, most) =>
          this.process.do("counts calls", () => world.take(nameOf(key), calls, most)),
      },
      world.rate,
      { now: () => new Date(world.time), elapsed: () => this.#elapsed, gathered: async () => undefined },
    );
  }

  pass(millis: number): void {
    if (this.#isAwake || this.invocation !== undefined) this.#elapsed += millis;
  }
}

/** All environments that call the provider, and the counters that they share. */
class RateWorld {
  readonly rate: number;
  time = Date.UTC(2026, 0, 1);
  environments: Environment[] = [];
  readonly #counters = new Map<string, number>();
  #arrivals: { readonly at: number; readonly isReserved: boolean }[] = [];

  constructor(rate: number) {
    this.rate = rate;
  }

  take(key: string, calls: number, most: number): number | undefined {
    const used = this.#counters.get(key) ?? 0;
    if (used + calls > most) return used;
    this.#counters.set(key, used + calls);
    return undefined;
  }

  start(isAwake: boolean): void {
    this.environments.push(new Environment(this, isAwake));
  }

  /** An environment's invocation, a new one if it has none, makes calls. Its service time is from its begin. */
  call(environment: Environment, count: number): void {
    environment.invocation ??= { began: this.time, serviceTime: Math.floor(this.time / 1_000) * 1_000 };
    const { serviceTime } = environment.invocation;
    for (let each = 0; each < count; each += 1) {
      environment.waiting += 1;
      environment.limiter
        .permit(serviceTime)
        .then((ended) => {
          const call = { ended, hasArrived: false };
          environment.calls.push(call);
          // A call with a lease arrives within its window.
          if (ended === undefined) this.arrive(environment, call);
        })
        .catch(() => undefined)
        .finally(() => {
          environment.waiting -= 1;
        });
    }
  }

  arrive(environment: Environment, call: Call): void {
    if (call.hasArrived || !this.environments.includes(environment)) return;
    call.hasArrived = true;
    this.#arrivals.push({ at: this.time, isReserved: call.ended !== undefined });
  }

  end(environment: Environment, call: Call): void {
    this.arrive(environment, call);
    call.ended?.();
    environment.calls.splice(environment.calls.indexOf(call), 1);
  }

  /** Ends its invocation, unless that still waits for something. */
  readonly freeze = (environment: Environment): void => {
    if (environment.waiting === 0 && environment.calls.length === 0) environment.invocation = undefined;
  };

  /** Its calls that were sent still arrive. */
  crash(environment: Environment): void {
    for (const call of environment.calls) this.arrive(environment, call);
    this.environments = this.environments.filter((each) => each !== environment);
  }

  /** A new version starts its own environments; invocations of the old one go on. */
  deploy(): void {
    this.environments = this.environments.filter(({ invocation }) => invocation !== undefined);
  }

  pass(millis: number): void {
    for (const environment of [...this.environments]) {
      const { began = this.time } = environment.invocation ?? {};
      if (this.time + millis - began > longestInvocation) this.crash(environment);
      else environment.pass(millis);
    }
    this.time += millis;
    this.#arrivals = this.#arrivals.filter(({ at }) => at > this.time - minute);
  }

  /** @throws if the provider received too many calls in the last minute */
  expectRate(): void {
    const reserved = this.#arrivals.filter(({ isReserved }) => isReserved).length;
    if (reserved > 2 * reservableCalls(this.rate)) throw new Error("more calls than were reserved");
    if (this.#arrivals.length > this.rate) throw new Error("more calls than the rate");
  }
}

const often = ["event", "event", "event", "call", "count", "end", "freeze"] as const;
const seldom = ["arrive", "start", "start", "start", "crash", "deploy"] as const;
type Action = (typeof often)[number] | (typeof seldom)[number];

type Act = (world: RateWorld, chosen: Environment, number: number) => void | Promise<void>;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const actions: Readonly<Record<Action, Act>> = {
  /** An event alone, as a whole. */
  event: async (world, environment) => {
    world.call(environment, 1);
    for (const act of [actions.count, actions.count, actions.end, actions.freeze]) {
      await nextTurn();
      await act(world, environment, faults.length);
    }
  },
  start: (world, _, number) => world.start(number % 2 === 0),
  call: (world, environment, number) => world.call(environment, 1 + (number % 3)),
  count: (_, { process }, number) => {
    const [step] = process.next;
    step?.go(faults[number] ?? "none");
  },
  arrive: (world, environment) => {
    for (const call of environment.calls) world.arrive(environment, call);
  },
  end: (world, environment) => {
    for (const call of [...environment.calls]) world.end(environment, call);
  },
  freeze: (world, environment) => world.freeze(environment),
  crash: (world, environment) => world.crash(environment),
  deploy: (world) => world.deploy(),
};

/** Milliseconds before an action: mostly none, else within a minute, around its end, and around that of a period. */
const pauses = fc.oneof(
  { arbitrary: fc.constantFrom(0, 0, 300, 1_000), weight: 12 },
  { arbitrary: fc.constantFrom(20_000, 59_000, 60_000, 61_000), weight: 2 },
  { arbitrary: fc.constantFrom(840_000, 1_140_000, 1_200_000), weight: 2 },
);
const nextActions = fc.oneof(
  { arbitrary: fc.constantFrom(...often), weight: 12 },
  { arbitrary: fc.constantFrom(...seldom), weight: 2 },
);

/** A rate, and what environments do at which time. */
export const rateHistories = fc.tuple(
  fc.constantFrom(40, 80, 200),
  fc.array(fc.tuple(nextActions, fc.nat({ max: 40 }), pauses), { maxLength: 200, size: "max" }),
);

/**
 * Runs a history of environments that call the provider.
 * @throws if it receives more calls in any minute than its rate, or without a lease than can be reserved
 */
export async function callInHistory([rate, history]: readonly [
  number,
  readonly (readonly [Action, number, number])[],
]): Promise<void> {
  const world = new RateWorld(rate);
  for (const [name, number, pause] of history) {
    // Invocations usually end long before their time is over.
    if (pause > minute && number % 8 > 0) world.environments.forEach(world.freeze);
    world.pass(pause);
    if (world.environments.length === 0) world.start(true);
    const chosen = world.environments[number % world.environments.length];
    if (chosen !== undefined) await actions[name](world, chosen, number);
    await nextTurn();
    world.expectRate();
  }
}
