import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnordered } from "../../../domain/event/events.ts";
import { drive, isBeforeFetch, waitUntilIdle } from "../../../proof/model/drive.ts";
import { expectAlways, expectAtRest } from "../../../proof/model/promises.ts";
import {
  type AccountChange,
  accountIds,
  changes,
  Provider,
  type Webhook,
} from "../../../proof/model/provider.ts";
import { Simulation } from "../../../proof/model/simulation.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";

const hour = 3_600_000;
const [numRuns = 0] = shareOfTier([100], [200]);
const [account] = accountIds;

/** Sends a webhook, answered or not, and processes its event up to the provider's calls. */
async function deliver(simulation: Simulation, webhook: Webhook): Promise<void> {
  simulation.deliver(webhook);
  await drive(simulation, (what) => what !== "deliver" && isBeforeFetch(what));
  expectAlways(simulation);
}

async function comeToRest(simulation: Simulation): Promise<void> {
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
}

function permutationsOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length === 0) return [[]];
  return list.flatMap((first, index) =>
    permutationsOf(list.toSpliced(index, 1)).map((rest) => [first, ...rest]),
  );
}

describe("every event", () => {
  /** An event of each kind, for two accounts, some with their own time or id. */
  async function simulationWithEvents(): Promise<Simulation> {
    const simulation = new Simulation(new Provider(false));
    for (const [index, id] of accountIds.entries()) {
      for (const thing of ["create", "connect", "data", "update", "disconnect"] as const) {
        simulation.provider.happen(id, thing, index === 0);
      }
    }
    return simulation;
  }

  it("is stored, sent and called for once if it is delivered three times over three days", async () => {
    const simulation = await simulationWithEvents();
    const events = [...simulation.provider.webhooks];
    for (let delivery = 0; delivery < 3; delivery += 1) {
      for (const webhook of events) await deliver(simulation, webhook);
      await comeToRest(simulation);
      simulation.pass(24 * hour);
    }
    // An event with its own id or time can only be a retry, which is not counted.
    const ids = new Set(events.map(({ id }) => id));
    const stored = simulation.table.events.filter(({ event }) => ids.has(event.id));
    expect(stored).toHaveLength(events.length);
    expect(stored.map(({ receipts }) => receipts.count)).toEqual(
      stored.map(({ event }) => (isUnordered(event) ? 3 : 1)),
    );
  });

  it("has no further effect if it is repeated after 73 hours", async () => {
    const simulation = await simulationWithEvents();
    await comeToRest(simulation);
    const events = [...simulation.provider.webhooks];
    const announced = () =>
      simulation.subscribers.map((name) => simulation.queue(name).messages.map(({ body }) => body));
    const before = announced();
    const documents = () =>
      accountIds.map((id) => simulation.table.loadDocument({ kind: "account", id }, { endpoint: "income" }));
    const contents = documents().map((stored) => stored?.storage.content);

    simulation.pass(73 * hour);
    for (const webhook of events.filter(({ body }) => body.includes("time")))
      await deliver(simulation, webhook);
    await comeToRest(simulation);

    expect(announced()).toEqual(before);
    expect(documents().map((stored) => stored?.storage.content)).toEqual(contents);
    for (const webhook of events) await deliver(simulation, webhook);
    await comeToRest(simulation);
  });
});

describe("create, update, connect, disconnect and delete", () => {
  const history: readonly AccountChange[] = ["create", "connect", "update", "disconnect", "delete"];

  it.each([
    ["with times", true],
    ["without times", false],
  ])("end in the truth in each of their 120 orders, %s", async (_, isOwn) => {
    const orders = permutationsOf(history.map((_, index) => index));
    expect(orders).toHaveLength(120);
    for (const order of orders) {
      const simulation = new Simulation(new Provider(false));
      for (const thing of history) simulation.provider.happen(account, thing, isOwn);
      const webhooks = [...simulation.provider.webhooks];
      for (const index of order)
        for (const webhook of webhooks.slice(index, index + 1)) await deliver(simulation, webhook);
      await comeToRest(simulation);
    }
  });

  it("end in the truth in any history, order and mixture, with duplicates and byte-identical repeats", async () => {
    const happening = fc.tuple(
      fc.constantFrom(...changes, "connect" as const, "disconnect" as const),
      fc.boolean(),
    );
    const histories = fc.array(happening, { minLength: 1, maxLength: 8 });
    const orders = fc.infiniteStream(fc.nat());
    await fc.assert(
      fc.asyncProperty(histories, orders, async (happenings, numbers) => {
        const simulation = new Simulation(new Provider(false));
        for (const [thing, isOwn] of happenings) simulation.provider.happen(account, thing, isOwn);
        const underWay = [...simulation.provider.webhooks, ...simulation.provider.webhooks];
        for (const number of numbers) {
          const [webhook] = underWay.splice(number % Math.max(1, underWay.length), 1);
          if (webhook === undefined) break;
          await deliver(simulation, webhook);
          // Occasionally the provider is called before the rest arrives.
          if (number % 3 === 0) await drive(simulation, () => true);
        }
        await comeToRest(simulation);
      }),
      { numRuns },
    );
  });
});
