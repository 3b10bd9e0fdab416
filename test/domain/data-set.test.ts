import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consequencesOf } from "../../domain/changes.ts";
import { type DataSet, fetched, parseDataSet, want, wantedOf, wantFor } from "../../domain/data-set.ts";
import type { IncomeEvent } from "../../domain/events.ts";
import { account, at, eventOf } from "./samples.ts";

const endpoint = "income";
const updated = eventOf("endpoint.updated", { endpoint, dataAvailable: true });
const other = eventOf("endpoint.updated", { endpoint, dataAvailable: true, dateEnd: "2026-02-01" });
const empty = eventOf("endpoint.updated", { endpoint, dataAvailable: false });
const take = (known: DataSet | undefined, event: IncomeEvent, receipts = 1) =>
  want(known, account, { endpoint }, event, receipts);

function taken(...events: IncomeEvent[]): DataSet {
  const known = events.reduce<DataSet | undefined>(
    (before, event) => take(before, event) ?? before,
    undefined,
  );
  if (known === undefined) throw new Error("nothing was wanted");
  return known;
}

describe("an endpoint event", () => {
  it("wants the data once more", () => {
    expect(taken(updated)).toMatchObject({
      subject: account,
      endpoint,
      version: 1,
      wanted: 1,
      done: 0,
      latest: { cause: "event", outcome: "applied" },
    });
    expect(taken(updated, other)).toMatchObject({ version: 2, wanted: 2, done: 0 });
  });

  it("wants the data where it does not say whether there is any", () => {
    expect(taken(eventOf("endpoint.updated", { endpoint })).wanted).toBe(1);
  });

  it("wants nothing where no data is available yet, but is known", () => {
    expect(taken(empty)).toMatchObject({ version: 1, wanted: 0, latest: { cause: "event" } });
    expect(take(taken(empty), empty, 2)).toBeUndefined();
  });

  it("changes nothing where the same receipt comes again", () => {
    const known = taken(updated, other);
    expect(take(known, updated, 1)).toBeUndefined();
    expect(take(known, other, 1)).toBeUndefined();
  });

  it("that is weak wants the data again when its bytes come again: it may be a true repeat", () => {
    const again = take(taken(updated), updated, 2);
    expect(again).toMatchObject({ version: 2, wanted: 2, latest: { cause: "again" } });
    expect(take(again, updated, 2)).toBeUndefined();
  });

  it("with its own time or id says nothing when its bytes come again", () => {
    for (const own of [{ time: at.toISOString() }, { eventId: "e-1" }]) {
      const event = eventOf("endpoint.updated", { endpoint, ...own });
      expect(take(taken(event), event, 2)).toBeUndefined();
    }
  });
});

describe("a reason other than an event", () => {
  it("wants the data once, with no message of its own", () => {
    const known = wantFor(undefined, account, { endpoint }, "start.1");
    expect(known).toMatchObject({ version: 1, wanted: 1, latest: { cause: "again" } });
    expect(wantFor(known, account, { endpoint }, "start.1")).toBeUndefined();
    expect(wantFor(known, account, { endpoint }, "start.2")).toMatchObject({ version: 2, wanted: 2 });
  });
});

describe("how often an endpoint was wanted", () => {
  it("is counted over the whole and all ranges of it, and of no other endpoint", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const whole = taken(updated, other);
    const part = { ...taken(updated), range };
    expect(wantedOf([whole, part, { ...whole, endpoint: "income-tax" }], endpoint)).toBe(3);
    expect(wantedOf([], endpoint)).toBe(0);
  });
});

describe("a fetch", () => {
  it("notes what it has done, and tells data that is new", () => {
    expect(fetched(taken(updated, other), 1, "digest", at)).toMatchObject({
      version: 3,
      wanted: 2,
      done: 1,
      content: "digest",
      latest: { cause: "answer", at: at.toISOString() },
    });
  });

  it("tells nothing where the data is the same, but is done", () => {
    const known = fetched(taken(updated, other), 1, "digest", at);
    expect(known && fetched(known, 2, "digest", at)).toMatchObject({ done: 2, latest: { cause: "again" } });
  });

  it("forgets the data where the provider has none any more, and tells it", () => {
    const known = fetched(taken(updated, other), 1, "digest", at);
    const gone = known && fetched(known, 2, undefined, at);
    expect(gone).toMatchObject({ done: 2, latest: { cause: "answer" } });
    expect(gone).not.toHaveProperty("content");
    expect(fetched(taken(updated), 1, undefined, at)?.latest).toEqual({ cause: "again" });
  });

  it("is void where a later one, or its double, was faster", () => {
    const known = fetched(taken(updated, other), 2, "new", at);
    expect(known && fetched(known, 1, "old", at)).toBeUndefined();
    expect(known && fetched(known, 2, "double", at)).toBeUndefined();
  });
});

describe("a stored data set", () => {
  it("is read as it was written", () => {
    for (const known of [
      taken(updated),
      fetched(taken(updated, other), 2, "d", at),
      take(taken(updated), updated, 2),
    ]) {
      expect(parseDataSet(JSON.parse(JSON.stringify(known)))).toEqual(known);
    }
  });

  it("is refused by the name of the field that is wrong", () => {
    const stored = taken(updated);
    for (const field of ["subject", "endpoint", "version", "wanted", "done", "judged", "latest"]) {
      expect(() => parseDataSet({ ...stored, [field]: null }), field).toThrow(
        new RegExp(`^${field}: expected`),
      );
    }
  });
});

type Fetch = { readonly noted: number; readonly read?: number; readonly isStored?: boolean };

/** One endpoint: the provider's data, the stream, the fetch queue (which doubles tasks), and slow fetches. */
class World {
  known: DataSet | undefined;
  stored = { noted: 0, data: 0 };
  data = 0;
  readonly done: number[] = [];
  readonly versions: number[] = [];
  readonly #random: Iterator<number>;
  readonly #events: IncomeEvent[] = [];
  readonly #tasks: number[] = [];
  readonly #fetches: Fetch[] = [];
  readonly #counts = new Map<string, number>();
  #changes: number;
  #doubles = 3;
  #kills = 2;

  constructor(changes: number, random: Iterator<number>) {
    this.#changes = changes;
    this.#random = random;
  }

  run(): void {
    for (let actions = this.#actions(); actions.length > 0; actions = this.#actions()) {
      actions[this.#upTo(actions.length)]?.();
    }
  }

  #actions(): (() => void)[] {
    return [
      ...(this.#changes > 0 ? [() => this.#change()] : []),
      ...(this.#events.length > 0 ? [() => this.#deliver()] : []),
      ...(this.#tasks.length > 0 ? [() => this.#begin()] : []),
      ...(this.#fetches.some(({ read }) => read === undefined) ? [() => this.#call()] : []),
      ...(this.#fetches.some(({ read }) => read !== undefined) ? [() => this.#end()] : []),
    ];
  }

  #change(): void {
    this.#changes -= 1;
    this.data += 1;
    // Two shapes: bytes repeat.
    this.#events.push(this.#upTo(2) === 0 ? updated : other);
  }

  #deliver(): void {
    const event = this.#take(this.#events);
    const receipts = (this.#counts.get(event.id) ?? 0) + 1;
    this.#counts.set(event.id, receipts);
    this.#write(take(this.known, event, receipts));
  }

  #begin(): void {
    const wanted = this.#take(this.#tasks);
    if (this.#doubles > 0 && this.#upTo(2) === 0) {
      this.#doubles -= 1;
      this.#tasks.push(wanted);
    }
    if (this.known !== undefined && wanted > this.known.done)
      this.#fetches.push({ noted: this.known.wanted });
  }

  #call(): void {
    const index = this.#fetches.findIndex(({ read }) => read === undefined);
    const [fetch] = this.#fetches.splice(index, 1);
    if (fetch !== undefined) this.#fetches.push({ ...fetch, read: this.data });
  }

  /** The data is stored first, what is known of it after; in between another fetch may do either, or this one die. */
  #end(): void {
    const fetch = this.#take(this.#fetches);
    const { noted, read, isStored } = fetch;
    if (read === undefined) this.#fetches.push(fetch);
    else if (isStored) this.#write(this.known && fetched(this.known, noted, `digest of ${read}`, at));
    else {
      if (noted >= this.stored.noted) this.stored = { noted, data: read };
      const isKilled = this.#kills > 0 && this.#upTo(4) === 0;
      if (isKilled) {
        this.#kills -= 1;
        this.#tasks.push(noted);
      } else this.#fetches.push({ ...fetch, isStored: true });
    }
  }

  #write(next: DataSet | undefined): void {
    if (next === undefined) return;
    for (const consequence of consequencesOf({ of: "data", before: this.known, after: next }, "urn:test")) {
      if (consequence.do === "call" && consequence.task.task === "read")
        this.#tasks.push(consequence.task.wanted);
    }
    this.known = next;
    this.done.push(next.done);
    this.versions.push(next.version);
  }

  #take<T>(list: T[]): T {
    const [taken] = list.splice(this.#upTo(list.length), 1);
    if (taken === undefined) throw new Error("nothing to take");
    return taken;
  }

  #upTo(limit: number): number {
    return (this.#random.next().value ?? 0) % limit;
  }
}

describe("events, doubled tasks and slow fetches in any interleaving", () => {
  it("end with data that is no older than the last event, and done never falls", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.infiniteStream(fc.nat()), (changes, random) => {
        const world = new World(changes, random[Symbol.iterator]());
        world.run();
        expect(world.stored.data).toBe(world.data);
        expect(world.known?.done).toBe(world.known?.wanted);
        expect(world.done).toEqual([...world.done].sort((left, right) => left - right));
        expect(world.versions).toEqual(world.versions.map((_, index) => index + 1));
      }),
      { numRuns: 2000 },
    );
  });
});
