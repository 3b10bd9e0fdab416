import { describe, expect, it } from "vitest";
import type { Send } from "../../../../adapters/sqs/sqs-sender.ts";
import { messageOfState } from "../../../../domain/message/message.ts";
import type { Message } from "../../../../domain/message/message-schemas.ts";
import { planReplay, replayDelivery, resumeReplay } from "../../../../packages/cli/recovery/replay.ts";
import { applied, eventOf } from "../../../domain/samples.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const names = ["ledger", "mailer"];
const subscribers = [{ name: "ledger" }, { name: "mailer", types: ["user.*"] }];

describe("a replay's plan", () => {
  it("covers all earlier messages of one subscriber, at fifty a second, unless flags say otherwise", () => {
    const run = planReplay({ subscriber: "ledger" }, subscribers, now);
    expect(run).toMatchObject({
      version: 0,
      selection: { until: "2026-03-01T12:00:00.000Z" },
      subscribers: ["ledger"],
      allTypes: false,
      rate: 50,
    });
    expect(run.subject).toBeUndefined();
    expect(run.id).toMatch(/^2026-03-01t120000-[0-9a-f]{6}$/);
    expect(planReplay({ subscriber: "ledger" }, subscribers, now).id).not.toBe(run.id);
  });

  it("keeps times that were given as how long ago, so that an interruption does not move them", () => {
    const period = { since: "24h", until: "1h" };
    const flags = { allSubscribers: true, ...period, user: "u", type: "account.*", rate: "7" };
    expect(planReplay(flags, subscribers, now)).toMatchObject({
      selection: { type: "account.*", since: "2026-02-28T12:00:00.000Z", until: "2026-03-01T11:00:00.000Z" },
      subject: { kind: "user", id: "u" },
      subscribers: names,
      rate: 7,
    });
  });

  it.each([
    [{}, "Choose --subscriber NAME or --all-subscribers. The stage has: ledger, mailer."],
    [{ subscriber: "nobody" }, "No subscriber nobody. The stage has: ledger, mailer."],
    [{ subscriber: "ledger", allSubscribers: true }, "exclude each other"],
    [{ subscriber: "ledger", type: "accounts.*" }, "--type"],
    [{ subscriber: "ledger", rate: "0" }, "--rate"],
    [{ subscriber: "ledger", since: "soon" }, "--since"],
    [{ subscriber: "ledger", since: "2026-03-02" }, "is in the future"],
    [{ subscriber: "ledger", since: "1h", until: "2h" }, "is not before --until"],
    [{ subscriber: "mailer", type: "account.*" }, "the filter of mailer leaves it out. Add --all-types"],
    [{ subscriber: "ledger", user: "1", account: "2" }, "exclude each other"],
  ])("refuses %o", (flags, reason) => {
    expect(() => planReplay(flags, subscribers, now)).toThrow(reason);
  });

  it("may include what a subscriber's filter excludes with a flag, and what another one accepts", () => {
    const type = "account.*";
    expect(planReplay({ subscriber: "mailer", type, allTypes: true }, subscribers, now).allTypes).toBe(true);
    expect(planReplay({ allSubscribers: true, type }, subscribers, now).subscribers).toEqual(names);
  });

  it("goes on as it was, at another rate if that is given, and for nobody else", () => {
    const run = planReplay({ subscriber: "ledger" }, subscribers, now);
    expect(resumeReplay(run, {}, names)).toEqual(run);
    expect(resumeReplay(run, { rate: "3" }, names)).toEqual({ ...run, rate: 3 });
    expect(() => resumeReplay(run, { allSubscribers: true }, names)).toThrow("leave out --all-subscribers");
    expect(() => resumeReplay(run, { since: "1h" }, names)).toThrow("leave out --since");
    expect(() => resumeReplay(run, {}, ["mailer"])).toThrow("no subscriber ledger any more");
  });
});

const subscriber = { name: "ledger", queueUrl: "https://sqs/ledger", deadLetterQueueUrl: "" };
const message = messageOfState(applied([eventOf("account.connected")]), "urn:test");
const messages = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => {
    if (message === undefined) throw new Error("the state has no message");
    return { ...message, id: `id-${index}` };
  });

function deliver(fails: (id: string, tries: number) => boolean) {
  const sent: string[] = [];
  const batches: number[] = [];
  const tries = new Map<string, number>();
  const send: Send = async (_, some) =>
    some.map(({ body }) => {
      const { id } = JSON.parse(body);
      tries.set(id, (tries.get(id) ?? 0) + 1);
      if (fails(id, tries.get(id) ?? 0)) return { type: "retryable", reason: "SQS: busy", delayInSeconds: 0 };
      sent.push(id);
      return undefined;
    });
  const paced = async (count: number) => {
    batches.push(count);
  };
  const delivery = replayDelivery(send, paced, async () => undefined);
  return { sent, batches, delivery: (some: readonly Message[]) => delivery(subscriber, some) };
}

describe("the delivery of a replay", () => {
  it("sends all, ten at a time, each batch within the pace", async () => {
    const { sent, batches, delivery } = deliver(() => false);
    await delivery(messages(23));
    expect(sent).toEqual(messages(23).map(({ id }) => id));
    expect(batches).toEqual([10, 10, 3]);
  });

  it("sends again what failed, and that alone", async () => {
    const { sent, batches, delivery } = deliver((id, tries) => id === "id-1" && tries < 3);
    await delivery(messages(3));
    expect(sent).toEqual(["id-0", "id-2", "id-1"]);
    expect(batches).toEqual([3, 1, 1]);
  });

  it("ends with the queue's name and reason if it accepts no messages", async () => {
    const { delivery } = deliver((id) => id === "id-1");
    await expect(delivery(messages(3))).rejects.toThrow("The queue of ledger refuses messages: SQS: busy. ");
  });
});
