import fc from "fast-check";
import { expect, it } from "vitest";
import type { Document } from "../../../domain/fetch/document.ts";
import {
  afterDocument,
  afterState,
  atDeadline,
  beginConnection,
  beginsConnection,
  statusOf,
} from "../../../domain/readiness/readiness.ts";
import type { AccountReadiness } from "../../../domain/readiness/stored-readiness.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, at, eventOf } from "../samples.ts";

const endpoints = ["income", "employment"] as const;
const settings = { endpoints, deadlineSeconds: 60, minDays: 90 } as const;
const second = 1_000;

type Record = { readonly state: State } | { readonly document: Document };
/** A call with its true time, whatever the clocks say. */
type Call = { readonly at: number; readonly endpoint: string; readonly isEnough: boolean };

/** The table, its stream, and the announcements about one account. */
class World {
  now = 1_000 * second;
  isConnected = false;
  state: State | undefined;
  item: AccountReadiness | undefined;
  readonly documents = new Map<string, Document>();
  readonly records: Record[] = [];
  readonly announced: string[] = [];
  readonly #calls: Call[] = [];
  #relayed = 0;
  #events = 0;
  #lastEvent = 0;

  event(isConnected: boolean, isTimed: boolean): void {
    this.isConnected = isConnected;
    this.#events += 1;
    this.#lastEvent = this.now;
    const time = new Date(this.now).toISOString();
    const event = eventOf(`account.${isConnected ? "connected" : "disconnected"}`, {
      userId: "u1",
      ...(isTimed ? { time } : { datasourceId: String(this.#events) }),
    });
    this.#writeState(applyEvent(this.state, event, 1, { since: this.now }));
  }

  answer(): void {
    if (this.state?.unconfirmed !== true) return;
    const answer = { found: true, connected: this.isConnected } as const;
    this.#writeState(applyProviderAnswer(this.state, this.state.version, answer, { at }));
  }

  delete(): void {
    this.isConnected = false;
    this.#writeState(
      applyEvent(this.state, eventOf("account.deleted", { eventId: "e" }), 1, {
        since: this.now,
      }),
    );
  }

  /** @param skew of DynamoDB's clock against SQS's, in milliseconds */
  read({ endpoint, days, skew, isForEvent }: Read): void {
    const known = this.documents.get(endpoint);
    const announced = (known?.announced ?? 0) + 1;
    const content = days === undefined ? {} : { digest: String(announced), size: 1, days };
    const document: Document = {
      ...{ subject: account, endpoint, asOf: Math.max(this.now + skew, (known?.asOf ?? 0) + 1), by: [] },
      ...{ announced, news: true, ...content, ...(isForEvent && { readFor: this.#lastEvent }) },
    };
    this.documents.set(endpoint, document);
    const isEnough = days !== undefined && (endpoint !== "income" || days >= settings.minDays);
    this.#calls.push({ at: this.now, endpoint, isEnough });
    this.records.push({ document });
  }

  relayNext(): void {
    const record = this.records[this.#relayed];
    if (record === undefined) return;
    this.#relayed += 1;
    this.relay(record);
  }

  relay(record: Record): void {
    if ("document" in record) {
      this.#write(this.item && afterDocument(this.item, record.document, this.now));
      return;
    }
    const { state } = record;
    const next = beginsConnection(this.item, state)
      ? beginConnection(this.item, state, [...this.documents.values()], { settings, now: this.now })
      : this.item && afterState(this.item, state);
    this.#write(next);
  }

  drain(): void {
    while (this.#relayed < this.records.length) this.relayNext();
  }

  deadline(since = this.item?.since ?? 0): void {
    const facts = { state: this.state, documents: [...this.documents.values()], failures: {} };
    const next = atDeadline(this.item, since, facts, this.now);
    if (typeof next !== "object") return;
    expect(this.state).toMatchObject({
      connected: true,
      unconfirmed: false,
      connection: { since: next.since },
    });
    this.#write(next);
  }

  isAllRead(since: number): boolean {
    return endpoints.every((endpoint) =>
      this.#calls.some((call) => call.endpoint === endpoint && call.isEnough && call.at >= since),
    );
  }

  #writeState(state: State | undefined): void {
    if (state === undefined) return;
    this.state = state;
    this.records.push({ state });
  }

  #write(next: AccountReadiness | undefined): void {
    if (next === undefined) return;
    expect(next.version).toBe((this.item?.version ?? 0) + 1);
    const isAnnounced = next.announced?.version === next.version;
    this.item = next;
    if (!isAnnounced || next.announced === undefined) return;
    const { since, status } = next.announced;
    expect({ isConnected: next.isConnected, isConfirmed: next.isConfirmed }).toEqual({
      isConnected: true,
      isConfirmed: true,
    });
    if (status === "ready") expect(this.isAllRead(since), "never early").toBe(true);
    expect(this.announced, "never incomplete after ready").not.toContain(`${since} ready`);
    expect(this.announced, "never twice").not.toContain(`${since} ${status}`);
    this.announced.push(`${since} ${status}`);
  }
}

type Read = {
  readonly endpoint: string;
  /** Undefined if the provider has none. */
  readonly days: number | undefined;
  readonly skew: number;
  readonly isForEvent: boolean;
};

const read: fc.Arbitrary<Read> = fc.record({
  endpoint: fc.constantFrom(...endpoints),
  days: fc.constantFrom(undefined, 30, 90, 120),
  skew: fc.integer({ min: -1_999, max: 1_999 }),
  isForEvent: fc.boolean(),
});
type Act = (world: World) => void;
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.boolean(), fc.boolean()).map(
      ([on, timed]): Act =>
        (world) =>
          world.event(on, timed),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Act>((world) => world.answer()) },
  {
    weight: 8,
    arbitrary: read.map(
      (each): Act =>
        (world) =>
          world.read(each),
    ),
  },
  { weight: 8, arbitrary: fc.constant<Act>((world) => world.relayNext()) },
  {
    weight: 3,
    arbitrary: fc.nat(60).map(
      (index): Act =>
        (world) => {
          const record = world.records[index % Math.max(1, world.records.length)];
          if (record !== undefined) world.relay(record);
        },
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>((world) => world.deadline()) },
  { weight: 1, arbitrary: fc.constant<Act>((world) => world.deadline(1_001 * second)) },
  { weight: 1, arbitrary: fc.constant<Act>((world) => world.delete()) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 5_000 }).map(
      (by): Act =>
        (world) =>
          (world.now += by),
    ),
  },
);

it("is announced once for each connection and never early, and each connection ends ready or incomplete", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const world = new World();
      for (const each of acts) {
        each(world);
        world.now += 1;
      }
      world.answer();
      world.drain();
      world.deadline();
      const { state, item, records } = world;
      for (const record of records) world.relay(record);
      expect(world.item, "what is relayed again changes nothing").toBe(item);
      const isConnected = state?.connected === true && !state.deleted;
      expect(item !== undefined && statusOf(item) !== "ended").toBe(isConnected);
      if (item === undefined || !isConnected) return;
      expect(item.since).toBe(state.connection?.since);
      const now = [...world.documents.values()].filter(({ digest, days = 0, ...document }) => {
        return digest !== undefined && (document.endpoint !== "income" || days >= settings.minDays);
      });
      // Certainly read after the connection began, by every clock.
      const isThere = now.filter(({ asOf }) => asOf > item.since + 2_000).length === endpoints.length;
      if (isThere) expect(statusOf(item)).toBe("ready");
      else expect(statusOf(item)).not.toBe("waiting");
    }),
    { numRuns: 2_000 },
  );
});
