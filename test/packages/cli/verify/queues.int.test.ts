import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { eventTable } from "../../../../adapters/dynamodb/event-table.ts";
import { storedEvents } from "../../../../adapters/dynamodb/stored-events.ts";
import { identify } from "../../../../domain/event/envelope.ts";
import { mapPayload } from "../../../../domain/event/mapping.ts";
import { wants } from "../../../../domain/message/message.ts";
import { defaultMapping } from "../../../../lib/settings/default-mapping.ts";
import type { Check } from "../../../../packages/cli/verify/plan.ts";
import {
  newMark,
  type PlannedEvent,
  planEvents,
  type SentEvent,
  unmappableBody,
} from "../../../../packages/cli/verify/plan.ts";
import { checkDeadLetters, checkDelivered } from "../../../../packages/cli/verify/queues.ts";
import { checkStored } from "../../../../packages/cli/verify/stored.ts";
import { exampleOf } from "../../../../scripts/documents/examples.ts";
import { receiptOf } from "../../../adapters/dynamodb/receipt.ts";
import { describeOnTables, startTestSystem, type TestSystem } from "../../../support/engines.ts";
import { systemWithTable } from "../../../support/system-with-table.ts";

let system: TestSystem;
beforeAll(async () => {
  system = await startTestSystem();
});
afterAll(() => system.close());

const mark = newMark();
const events = planEvents(mark);
const failedIn = (checks: readonly Check[]) =>
  checks.filter(({ passed }) => !passed).map(({ name, seen }) => `${name}: ${seen}`);

const messageOf = ({ subject, type }: PlannedEvent) => ({
  ...exampleOf(type),
  id: `id of ${subject}`,
  subject,
});

describe.concurrent("a subscriber's queue", () => {
  const types = ["user.*", "account.created"];
  const wanted = events.filter(({ type }) => wants({ name: "test", types }, type));
  const [first = events[0]] = wanted;
  const whole = wanted.map((event) => messageOf(event));

  const failures = async (messages: readonly object[]) => {
    const queueUrl = await system.createQueue();
    for (const message of messages) await system.send(queueUrl, JSON.stringify(message));
    const subscriber = { name: "test", types, queueUrl, others: "release" } as const;
    return failedIn(
      await checkDelivered(subscriber, events, mark, {
        sqs: system.sqs,
        seconds: 1,
        onOther: () => undefined,
      }),
    );
  };

  const [stranger] = events.filter(({ type }) => type === "company-account.created");
  const other = stranger === undefined ? {} : messageOf(stranger);
  it.each<[string, readonly object[], readonly string[]]>([
    [
      "passes with each event that the filter accepts, even if one comes twice",
      [...whole, ...whole.slice(0, 2)],
      [],
    ],
    [
      "fails if one is missing, and names it",
      whole.slice(1),
      [
        `subscriber test: gets each event of users as a CloudEvent, under one id: 5 of 6; no user.created of ${first?.subject}`,
      ],
    ],
    [
      "fails if one has two ids",
      [...whole, { ...whole[0], id: "another" }],
      [expect.stringContaining(`${first?.subject} has 2 ids`)],
    ],
    [
      "fails if the filter lets another through",
      [...whole, other],
      [expect.stringMatching(/gets no other message of the run: company-account.created of company-account/)],
    ],
  ])("%s", async (_, messages, expected) => {
    expect(await failures(messages)).toEqual(expected);
  });

  it.each([
    ["specversion", "0.3"],
    ["sequence", "1"],
    ["source", "elsewhere"],
    ["time", "noon"],
    ["data", "text"],
  ])("fails if a message's %s violates the contract", async (field, value) => {
    const [changed, ...rest] = whole.map((message) => ({ ...message }));
    const reported = await failures([{ ...changed, [field]: value }, ...rest]);
    expect(reported).toEqual([
      expect.stringContaining("5 of 6"),
      expect.stringContaining(`no message of the contract: ${field}: `),
    ]);
  });
});

describe.concurrent("a dead-letter queue", () => {
  const ofUsers = events.filter(({ kind }) => kind === "users");
  const deadLetter = async (queueUrl: string, body: string, reason: string) => {
    await system.sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify({ id: identify("users", Buffer.from(body)) }),
        MessageAttributes: { reason: { DataType: "String", StringValue: reason } },
      }),
    );
  };
  const failures = async (queueUrl: string) =>
    failedIn(await checkDeadLetters("users", ofUsers, mark, { sqs: system.sqs, queueUrl, seconds: 1 }));

  it("passes with the unmappable body alone, takes it away, and leaves others'", async () => {
    const queueUrl = await system.createQueue();
    await deadLetter(queueUrl, unmappableBody(mark), "type: the payload names no event; see mapping.type");
    await deadLetter(queueUrl, "another's", "not JSON");

    expect(await failures(queueUrl)).toEqual([]);
    expect(await system.drain(queueUrl)).toHaveLength(1);
  });

  it("fails if the dead letter has no reason, or another", async () => {
    const queueUrl = await system.createQueue();
    await deadLetter(queueUrl, unmappableBody(mark), "something else");
    expect(await failures(queueUrl)).toEqual([expect.stringContaining("with the reason: something else")]);
    expect(await failures(queueUrl)).toEqual([expect.stringContaining("none after 1 s")]);
  });

  it("fails if an event of the run is a dead letter, reports its reason, and removes it", async () => {
    const queueUrl = await system.createQueue();
    const [event] = ofUsers;
    await deadLetter(queueUrl, unmappableBody(mark), "type: the payload names no event; see mapping.type");
    await deadLetter(queueUrl, event?.body ?? "", "type: missing");
    expect(await failures(queueUrl)).toEqual([
      `users: puts no event among its dead letters: ${event?.subject}: type: missing`,
    ]);
    expect(await system.drain(queueUrl)).toEqual([]);
  });
});

await describeOnTables("the events of a run in the table", (tables) => {
  const made = systemWithTable(tables);

  const store = async ({ kind, body }: PlannedEvent, id: string) => {
    const facts = mapPayload(defaultMapping[kind], JSON.parse(body), jmespathSearch);
    const receivedAt = "2030-01-01T00:00:00.000Z";
    const record = eventTable(made.system.dynamodb, made.table.name, 30);
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
    const stored = storedEvents(made.system.dynamodb, made.table.name);
    return failedIn(await checkStored(some, stored, seconds));
  };

  it("pass if each exists once, with a receipt for each webhook, which is waited for until the deadline", async () => {
    const events = planEvents(newMark());
    const [waited] = await Promise.all([failures(sent(events), 60), storeAll(events)]);
    expect([waited, await failures(sent(events))]).toEqual([[], []]);
  });

  it("fail if one is missing, has too few receipts, has two records, or was not accepted", async () => {
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

  it("are erased with their partition, and nothing else is", async () => {
    const [mine, other] = planEvents(newMark());
    if (!mine || !other) throw new Error("the plan is too short");
    await storeAll([mine, other]);
    const before = (await made.table.all()).length;
    const stored = storedEvents(made.system.dynamodb, made.table.name);
    expect(await stored.erase(mine.owner)).toBe(1);
    expect(await stored.eventsOf(mine.owner)).toEqual([]);
    expect(await stored.eventsOf(other.owner)).toMatchObject([
      { event: { id: "id" }, receipts: { count: 1 } },
    ]);
    expect((await made.table.all()).length).toBe(before - 1);
  });
});
