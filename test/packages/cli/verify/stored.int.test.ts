import { afterAll, beforeAll, expect, it } from "vitest";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { eventTable } from "../../../../adapters/dynamodb/event-table.ts";
import { storedEvents } from "../../../../adapters/dynamodb/stored-events.ts";
import { mapPayload } from "../../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../../lib/settings/default-mapping.ts";
import {
  newMark,
  type PlannedEvent,
  planEvents,
  type SentEvent,
} from "../../../../packages/cli/verify/plan.ts";
import { checkStored } from "../../../../packages/cli/verify/stored.ts";
import { receiptOf } from "../../../adapters/dynamodb/receipt.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestSystem,
  type TestTable,
} from "../../../support/engines.ts";

await describeOnTables("the events of a run in the table", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
  });
  afterAll(() => system.close());

  const store = async ({ kind, body }: PlannedEvent, id: string) => {
    const facts = mapPayload(defaultMapping[kind], JSON.parse(body), jmespathSearch);
    const receivedAt = "2030-01-01T00:00:00.000Z";
    const record = eventTable(system.dynamodb, table.name, 30);
    await record([receiptOf({ ...facts, id, kind, receivedAt })]);
  };
  const storeAll = async (
    events: readonly PlannedEvent[],
    receiptsOf = ({ times }: PlannedEvent) => times,
  ) => {
    for (const event of events)
      for (let receipt = 0; receipt < receiptsOf(event); receipt += 1) await store(event, "id");
  };
  const sent = (events: readonly PlannedEvent[]): readonly SentEvent[] =>
    events.map((event) => ({ event, accepted: event.times }));
  const failures = async (some: readonly SentEvent[], seconds = 0) => {
    const checks = await checkStored(some, storedEvents(system.dynamodb, table.name), seconds);
    return checks.filter(({ passed }) => !passed).map(({ name, seen }) => `${name}: ${seen}`);
  };

  it("pass where each is there once, with a receipt for each webhook", async () => {
    const events = planEvents(newMark());
    await storeAll(events);
    expect(await failures(sent(events))).toEqual([]);
  });

  it("are waited for until the deadline", async () => {
    const events = planEvents(newMark());
    const [checks] = await Promise.all([failures(sent(events), 60), storeAll(events)]);
    expect(checks).toEqual([]);
  });

  it("fail where one is missing, has too few receipts, has two records, or was not taken", async () => {
    const [again, large, missing, twice, refused, ...rest] = planEvents(newMark());
    if (!again || !large || !missing || !twice || !refused) throw new Error("the plan is too short");
    await storeAll([again, large, twice, refused, ...rest], (event) => (event === again ? 2 : event.times));
    await store(twice, "another id");
    const all = [...sent([again, large, missing, twice]), { event: refused, accepted: 0 }, ...sent(rest)];
    expect(await failures(all)).toEqual([
      `users: stores an event that arrives three times once: 0 of 1; ${again.subject} was received 2 times after 0 s`,
      "users: stores each other event once: 1 of 4; " +
        `${missing.subject} is not stored after 0 s; ${twice.subject} has 2 records; ${refused.subject} was not taken`,
    ]);
  });

  it("are erased with all that lies in their partition, and nothing else is", async () => {
    const [mine, other] = planEvents(newMark());
    if (!mine || !other) throw new Error("the plan is too short");
    await storeAll([mine, other]);
    const before = (await table.all()).length;
    const stored = storedEvents(system.dynamodb, table.name);
    expect(await stored.erase(mine.owner)).toBe(1);
    expect(await stored.eventsOf(mine.owner)).toEqual([]);
    expect(await stored.eventsOf(other.owner)).toMatchObject([
      { event: { id: "id" }, receipts: { count: 1 } },
    ]);
    expect((await table.all()).length).toBe(before - 1);
  });
});
