import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Scenario, type SimulationStep, simulate } from "../../proof/capacity/model/simulate.ts";

const source = fc.record({
  first: fc.integer({ min: 1, max: 5 }),
  morePerMinute: fc.integer({ min: 0, max: 300 }),
  most: fc.integer({ min: 1, max: 40 }),
  batchSize: fc.integer({ min: 1, max: 10 }),
});

/** Small systems, some of them in trouble: a burst, and an outage of the provider for a while. */
const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    source,
    perSecond: fc.integer({ min: 1, max: 60 }),
    burst: fc.integer({ min: 1, max: 20 }),
    throttle: fc.integer({ min: 5, max: 200 }),
    inFlightLimit: fc.integer({ min: 20, max: 400 }),
    requestsPerMinute: fc.integer({ min: 30, max: 3_000 }),
    tasksPerDelivery: fc.double({ min: 0.1, max: 2, noNaN: true }),
    secondsPerCall: fc.double({ min: 0.05, max: 5, noNaN: true }),
    downFor: fc.integer({ min: 0, max: 120 }),
    relaySeconds: fc.integer({ min: 0, max: 5 }),
    seed: fc.nat(),
  })
  .map(({ source: polling, secondsPerCall, inFlightLimit, ...drawn }) => ({
    store: {
      ...polling,
      secondsPerBatch: 0.3,
      throttle: { perSecond: drawn.throttle, burst: drawn.throttle },
      retrySeconds: 20,
      inFlightLimit,
    },
    fetch: {
      ...polling,
      secondsPerCall,
      secondsWithoutCall: 0.1,
      inFlightLimit,
      longestHiddenSeconds: 60,
      hiddenInARow: 2,
      longestDelaySeconds: 90,
    },
    provider: {
      requestsPerMinute: drawn.requestsPerMinute,
      breaker: { failures: 5, baseSeconds: 2, maxSeconds: 30 },
      secondsPerCall,
      leaseSeconds: 10,
      isDown: (seconds) => seconds >= 30 && seconds < 30 + drawn.downFor,
    },
    deliveriesPerSecond: (seconds) =>
      seconds > 60 ? 0 : drawn.perSecond * (seconds >= 20 && seconds < 40 ? drawn.burst : 1),
    tasksPerDelivery: drawn.tasksPerDelivery,
    relaySeconds: drawn.relaySeconds,
    stepSeconds: 0.25,
    lookEvery: 1,
    seconds: 300,
    seed: drawn.seed,
  }));

/** Every moment of every scenario keeps the law. */
const holds = (law: (step: SimulationStep, scenario: Scenario) => boolean) =>
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const broken = [...simulate(scenario)].find((step) => !law(step, scenario));
      expect(broken).toBeUndefined();
    }),
    { numRuns: 60 },
  );

describe("the model of bursts and outages", () => {
  it("loses and makes no delivery", () => {
    holds(({ store: { sent, refused, waiting, working, stored } }) => {
      const isAny = Math.min(refused, waiting, working) >= 0;
      return isAny && refused + waiting + working + stored === sent;
    });
  });

  it("loses and makes no task", () => {
    holds(({ tasks, relayed, store, fetch }, { tasksPerDelivery }) => {
      const { visible, hidden, delayed, working, done } = fetch;
      const isAny = Math.min(relayed, visible, hidden, delayed, working) >= 0;
      const all = relayed + visible + hidden + delayed + working + done;
      return isAny && all === tasks && Math.abs(tasks - store.stored * tasksPerDelivery) < 1.001;
    });
  });

  it("never has more in flight than SQS allows, nor more batches than the event source", () => {
    holds(({ store, fetch }, scenario) => {
      const isWithin =
        store.working <= scenario.store.inFlightLimit && fetch.inFlight <= scenario.fetch.inFlightLimit;
      return isWithin && Math.max(store.batches, fetch.batches) <= scenario.fetch.most;
    });
  });

  it("makes in no minute more calls than the provider's rate, wherever it begins", () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const calls = [...simulate(scenario)].map(({ fetch }) => fetch.calls);
        const minute = 60 / scenario.stepSeconds;
        const perMinute = calls.map((count, index) => count - (calls[index - minute] ?? 0));
        expect(Math.max(...perMinute)).toBeLessThanOrEqual(scenario.provider.requestsPerMinute);
      }),
      { numRuns: 60 },
    );
  });

  it("fetches nothing from a provider that is down, and hardly calls it", () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const { fetch, provider } = scenario;
        const settled = 30 + fetch.secondsPerCall + scenario.stepSeconds;
        const down = [...simulate(scenario)].filter(
          ({ seconds }) => seconds > settled && provider.isDown(seconds),
        );
        const [first, last] = [down[0]?.fetch, down.at(-1)?.fetch];
        expect(last?.done).toBe(first?.done);
        // Five that open the breaker, of each batch that was on its way, and a probe each time that it ends.
        const probes = 60 + fetch.most * fetch.batchSize;
        expect((last?.calls ?? 0) - (first?.calls ?? 0)).toBeLessThanOrEqual(probes);
      }),
      { numRuns: 60 },
    );
  });

  it("catches up once the provider is back and nothing new comes, where the rate allows it", () => {
    fc.assert(
      fc.property(scenarios, (drawn) => {
        const scenario = {
          ...drawn,
          provider: { ...drawn.provider, requestsPerMinute: 30_000 },
          fetch: { ...drawn.fetch, secondsPerCall: 0.25 },
          deliveriesPerSecond: (seconds: number) => (seconds < 20 ? 5 : 0),
          lookEvery: 1_200,
          seconds: 1_800.25,
        };
        const last = [...simulate(scenario)].at(-1);
        expect(last?.store.stored).toBe(last?.store.sent);
        expect(last?.fetch.done).toBe(last?.tasks);
      }),
      { numRuns: 20 },
    );
  });

  it("gives the same result for the same seed", () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        expect([...simulate(scenario)].at(-1)).toEqual([...simulate(scenario)].at(-1));
      }),
      { numRuns: 5 },
    );
  });
});
