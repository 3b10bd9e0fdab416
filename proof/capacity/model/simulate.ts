import { type FetchSettings, FetchStage } from "./fetch-stage.ts";
import { type ProviderModel, SharedProvider } from "./provider.ts";
import { randomOf } from "./random.ts";
import { type StoreSettings, StoreStage } from "./store-stage.ts";

/** A system, and what happens to it. */
export type Scenario = {
  readonly store: StoreSettings;
  readonly fetch: FetchSettings;
  readonly provider: ProviderModel;
  /** Deliveries of webhooks, by the second since the beginning. */
  readonly deliveriesPerSecond: (seconds: number) => number;
  /** Calls to the provider that follow a delivery. */
  readonly tasksPerDelivery: number;
  /** From the table's change to the task. */
  readonly relaySeconds: number;
  readonly stepSeconds: number;
  /** Every how many steps the system is looked at. */
  readonly lookEvery: number;
  readonly seconds: number;
  readonly seed: number;
};

/** The system at one moment. */
export type SimulationStep = {
  readonly seconds: number;
  /** Made so far. */
  readonly tasks: number;
  /** On their way through the relay. */
  readonly relayed: number;
  readonly store: ReturnType<StoreStage["counts"]>;
  readonly fetch: ReturnType<FetchStage["counts"]>;
};

/** Lets a scenario happen, step by step; the same each time. */
export function* simulate(scenario: Scenario): Generator<SimulationStep> {
  const { stepSeconds, relaySeconds, tasksPerDelivery } = scenario;
  const random = randomOf(scenario.seed);
  const store = new StoreStage(scenario.store, stepSeconds);
  const fetch = new FetchStage(
    scenario.fetch,
    stepSeconds,
    new SharedProvider(scenario.provider, random),
    random,
  );
  const onTheWay: number[] = [];
  let tasks = 0;
  let relayed = 0;
  let owed = 0;
  for (let step = 0; step * stepSeconds < scenario.seconds; step += 1) {
    const seconds = step * stepSeconds;
    owed += store.step(step, scenario.deliveriesPerSecond(seconds)) * tasksPerDelivery;
    const made = Math.floor(owed);
    owed -= made;
    tasks += made;
    relayed += made;
    const due = step + Math.round(relaySeconds / stepSeconds);
    onTheWay[due] = (onTheWay[due] ?? 0) + made;
    const arrived = onTheWay[step] ?? 0;
    relayed -= arrived;
    fetch.step(step, arrived);
    if (step % scenario.lookEvery === 0)
      yield { seconds, tasks, relayed, store: store.counts(), fetch: fetch.counts() };
  }
}
