import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contract, type Message } from "../../../domain/message/message-schemas.ts";
import { inMemory, type Memory } from "../../../packages/subscriber/memory.ts";
import { createReader, type ReaderOptions } from "../../../packages/subscriber/reader.ts";
import { exampleOf } from "../../../scripts/documents/examples.ts";
import { messageHistories } from "../../domain/message/message-histories.ts";

const text = (message: object) => JSON.stringify(message);
const [created, connected] = [exampleOf("account.created"), exampleOf("account.connected")];

/** A reader that records what it handled. */
function keepingReader(options: Partial<ReaderOptions> = {}) {
  const handled: Message[] = [];
  const read = createReader({
    memory: inMemory(),
    handle: (message) => {
      handled.push(message);
    },
    ...options,
  });
  return { read, handled };
}

describe("a reader", () => {
  it("keeps sources apart: ids and sequences are those of one stage", async () => {
    const { read, handled } = keepingReader();
    await read(text(connected));
    for (const message of [connected, created]) {
      expect(await read(text({ ...message, source: "/income-events/other" }))).toMatchObject({
        type: message === created ? "stale" : "handled",
      });
    }
    expect(handled).toHaveLength(2);
    const other = keepingReader();
    await other.read(text(connected));
    expect(await other.read(text({ ...created, source: "/income-events/other" }))).toMatchObject({
      type: "handled",
    });
  });

  describe("after an owner's erasure", () => {
    const erased = exampleOf("account.erased");
    const of = (subject: string, change: object = {}) => ({ ...connected, id: subject, subject, ...change });
    const later = { type: "account.scored", data: {}, sequence: "9".repeat(19).padStart(20, "0") };
    const owner = erased.subject;
    const cases: readonly (readonly [string, object])[] = [
      ["the owner itself", of(owner, { sequence: "8".repeat(20) })],
      ["new data", { ...exampleOf("data.updated"), subject: `${owner}/income` }],
      [
        "new data of a range",
        { ...exampleOf("data.updated"), subject: `${owner}/shifts/2026-01-01..2026-01-31` },
      ],
      ["news of an endpoint", { ...exampleOf("endpoint.updated"), subject: `${owner}/income` }],
      ["a type of a later release", of(owner, later)],
      ["a subject of a later release", of(`${owner}/score`, later)],
      ["a replay", { ...exampleOf("data.updated"), subject: `${owner}/income`, replayid: "r" }],
    ];

    it.each(cases)("drops %s, and hands it to nobody", async (_, message) => {
      const others: unknown[] = [];
      const keep = (each: unknown) => void others.push(each);
      const { read, handled } = keepingReader({
        handleStale: keep,
        handleUnknown: keep,
        repeatReplays: true,
      });
      await read(text(erased));
      expect(await read(text(message))).toEqual({ settled: true, type: "erased" });
      expect([handled, others]).toEqual([[erased], []]);
    });

    it("still hands over the erasure, also once more, and what is about others", async () => {
      const { read, handled } = keepingReader();
      const [again, other] = [{ ...erased, id: "again" }, of(`${owner}0`)];
      for (const message of [erased, again, other, of(owner, { source: "/income-events/other" })])
        expect(await read(text(message))).toEqual({ settled: true, type: "handled" });
      expect(handled).toHaveLength(4);
    });
  });

  it("skips unknown types, or passes them to handleUnknown once", async () => {
    const later = { ...created, type: "account.merged", data: [] };
    expect(await keepingReader().read(text(later))).toEqual({ settled: true, type: "skipped" });

    const unknown: unknown[] = [];
    const { read } = keepingReader({ handleUnknown: (message) => void unknown.push(message) });
    expect(await read(text(later))).toEqual({ settled: true, type: "handled" });
    expect(await read(text(later))).toEqual({ settled: true, type: "duplicate" });
    expect(await read(text({ ...later, id: "older", sequence: "0".repeat(20) }))).toMatchObject({
      type: "handled",
    });
    expect(unknown).toHaveLength(2);
  });

  it.each(["handle", "recall", "remember"])("retries a message if %s fails", async (step) => {
    let isFailing = true;
    const pass = (name: string) => {
      if (!isFailing || name !== step) return;
      isFailing = false;
      throw new Error(name);
    };
    const kept = inMemory();
    const memory: Memory = {
      recall: async (...asked) => pass("recall") ?? kept.recall(...asked),
      remember: async (handled) => pass("remember") ?? kept.remember(handled),
    };
    const handled: Message[] = [];
    const handle = (message: Message) => pass("handle") ?? void handled.push(message);
    const { read } = keepingReader({ memory, handle });
    expect(await read(text(created))).toMatchObject({ settled: false, type: "failed", reason: step });
    expect(await read(text(created))).toEqual({ settled: true, type: "handled" });
    // Twice if it could not be remembered: at least once.
    expect(handled).toHaveLength(step === "remember" ? 2 : 1);
  });

  it("treats replayed messages as repeated, unless told to handle them again", async () => {
    const replay = (id: string) => text({ ...connected, replayid: id });
    const plain = keepingReader();
    await plain.read(text(connected));
    expect(await plain.read(replay("r1"))).toEqual({ settled: true, type: "duplicate" });

    const repeating = keepingReader({ repeatReplays: true });
    await repeating.read(text(connected));
    expect(await repeating.read(replay("r1"))).toEqual({ settled: true, type: "handled" });
    expect(await repeating.read(replay("r1"))).toEqual({ settled: true, type: "duplicate" });
    expect(await repeating.read(replay("r2"))).toEqual({ settled: true, type: "handled" });
  });
});

/** Messages that replace each other. Implemented separately, because the reader must match the contract. */
const seriesOf = ({ type, subject }: Message) =>
  contract[type].newestOf === "subject" ? subject : `${subject} ${type}`;

const isErasure = ({ type }: Message) => type.endsWith(".erased");

function withoutErased(messages: readonly Message[]): readonly Message[] {
  const erased = messages.filter(isErasure).map(({ subject }) => subject);
  const isOf = ({ subject }: Message) => erased.some((owner) => `${subject}/`.startsWith(`${owner}/`));
  return messages.filter((message) => isErasure(message) || !isOf(message));
}

/** A subscriber's table: its content is the last write, and for erased subjects nothing else. */
function newestOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const newest = new Map<string, Message>();
  for (const message of withoutErased(messages)) {
    const known = newest.get(seriesOf(message));
    if (known === undefined || known.sequence < message.sequence) newest.set(seriesOf(message), message);
  }
  return new Map([...newest].map(([series, { id }]) => [series, id]));
}

describe("messages delivered in any order, with duplicates, side by side, to a handler that fails at times", () => {
  const deliveries = messageHistories.chain((messages) =>
    fc.record({
      messages: fc.constant(messages),
      order: fc.shuffledSubarray([...messages, ...messages, ...messages], { minLength: messages.length * 3 }),
      failures: fc.array(fc.boolean(), { maxLength: 40 }),
      atOnce: fc.integer({ min: 1, max: 10 }),
    }),
  );

  /** Delivers as a queue does: several at once, and again if not settled. */
  async function deliver(order: readonly Message[], atOnce: number, read: ReturnType<typeof createReader>) {
    const queue = [...order];
    while (queue.length > 0) {
      const batch = queue.splice(0, atOnce);
      const results = await Promise.all(batch.map((message) => read(text(message))));
      queue.push(...batch.filter((_, index) => results[index]?.settled === false));
    }
  }

  const wait = () => new Promise<void>((resolve) => setImmediate(resolve));

  it("are each handled once in effect, and what is shown last is the newest (law)", async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ messages, order, failures, atOnce }) => {
        const handled: string[] = [];
        const shown = new Map<string, string>();
        const left = [...failures];
        const { read } = keepingReader({
          handle: async (message) => {
            if (left.shift() === true) throw new Error("planted");
            if (handled.length % 3 === 0) await wait();
            handled.push(message.id);
            if (isErasure(message))
              for (const key of shown.keys()) if (key.startsWith(`${message.subject}/`)) shown.delete(key);
            shown.set(seriesOf(message), message.id);
          },
        });
        await deliver(order, atOnce, read);
        expect(new Set(handled).size).toBe(handled.length);
        expect(shown).toEqual(newestOf(messages));
      }),
      { numRuns: 300 },
    );
  });

  it("are all handled, each once, if older ones are passed on too (law)", async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ messages, order, failures, atOnce }) => {
        const handled: string[] = [];
        const left = [...failures];
        const handle = ({ id }: Message) => {
          if (left.shift() === true) throw new Error("planted");
          handled.push(id);
        };
        const { read } = keepingReader({ handle, handleStale: handle });
        await deliver(order, atOnce, read);
        expect(new Set(handled).size).toBe(handled.length);
        expect(handled).toEqual(expect.arrayContaining(withoutErased(messages).map(({ id }) => id)));
      }),
      { numRuns: 300 },
    );
  });
});
