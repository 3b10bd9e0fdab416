import { partitionOf } from "../../../adapters/dynamodb/keys.ts";
import { readRecord } from "../../../adapters/erasure/erasable-records.ts";
import type { Tombstone } from "../../../adapters/erasure/tombstones.ts";
import { retryable } from "../../../domain/core/failures.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { DeadLetter } from "../../../domain/recovery/dead-letter.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";
import { keptLog } from "../../support/kept-log.ts";

type Item = { readonly pk: string; readonly sk: string } & Record<string, unknown>;
type Waiting = { readonly body: string; readonly isDelayed: boolean };

/** All that an erasure touches, in memory, and the eraser's ports on it. */
export class World {
  readonly items = new Map<string, Item>();
  readonly objects = new Map<string, string>();
  readonly deadLetters: DeadLetter[] = [];
  readonly archived: DeadLetter[] = [];
  /** Batches of records that the relay gave up on. */
  givenUp: string[][] = [];
  readonly tombstones = new Map<string, Tombstone>();
  readonly erasureLog = new Map<string, string>();
  readonly reports: unknown[] = [];
  readonly tasks: Waiting[] = [];
  readonly log = keptLog();
  /** After so many calls one fails; undefined: none. */
  fuse: number | undefined;

  put(item: Item): void {
    this.items.set(JSON.stringify([item.pk, item.sk]), item);
  }

  isErased(subject: Subject): boolean {
    return this.tombstones.has(digestOf(subject));
  }

  /** Everything that may hold somebody's data. */
  bytes(): string {
    return JSON.stringify([
      [...this.items.values()],
      [...this.objects],
      this.deadLetters,
      this.archived,
      this.givenUp,
      [...this.tombstones],
      [...this.erasureLog],
      this.reports,
      this.log.entries,
    ]);
  }

  readonly #burn = (): void => {
    if (this.fuse === undefined) return;
    this.fuse -= 1;
    if (this.fuse < 0) throw retryable("injected", 1);
  };

  readonly #records: EraserDependencies["records"] = {
    pagesOf: (subject) => this.#pagesOf(subject),
    remove: async ({ key: { pk, sk } }) => {
      this.#burn();
      return this.items.delete(JSON.stringify([pk, sk]));
    },
    forgetLastEvent: async ({ key: { pk, sk } }) => {
      this.#burn();
      const item = this.items.get(JSON.stringify([pk, sk]));
      if (item?.state !== undefined)
        this.put({ ...item, state: { ...item.state, latest: { cause: "again" } } });
      else if (item !== undefined) this.put({ ...item, document: {} });
    },
    replays: async () => {
      this.#burn();
      const found = [...this.items.values()].filter(({ pk }) => pk === "REPLAY");
      return found.map(({ pk, sk, ...rest }) => ({
        key: { pk, sk },
        text: JSON.stringify({ pk, sk, ...rest }),
      }));
    },
  };

  async *#pagesOf(subject: Subject) {
    this.#burn();
    const all = [...this.items.values()].filter(({ pk }) => pk === partitionOf(subject)).map(readRecord);
    for (let at = 0; at < all.length; at += 3) yield all.slice(at, at + 3);
  }

  #place(list: DeadLetter[]): ReturnType<EraserDependencies["deadLetters"]>[number][1][number] {
    return async (look) => {
      this.#burn();
      const { done } = await look([...list]);
      for (const one of done) list.splice(list.indexOf(one), 1);
      return { notTaken: 0, mayHide: false };
    };
  }

  readonly #objects: EraserDependencies["objects"] = {
    remove: async (key) => {
      this.#burn();
      this.objects.delete(key);
    },
    removeBelow: async (prefix) => {
      this.#burn();
      const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix));
      for (const key of keys) this.objects.delete(key);
      return keys.length;
    },
    countBelow: async () => 0,
    pagesBelow: (prefix, after = "") => this.#objectsBelow(prefix, after),
  };

  async *#objectsBelow(prefix: string, after: string) {
    this.#burn();
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    yield keys.map((key) => ({ key, bytes: this.objects.get(key)?.length ?? 0 }));
  }

  /** @param publish takes messages to subscribers, whose own they are */
  ports(): EraserDependencies {
    return {
      digestOf: async (subject) => digestOf(subject),
      tombstones: {
        place: async (digest, correlationId) => {
          this.#burn();
          const known = this.tombstones.get(digest);
          const placed = known ?? { erasedAt: "2026-11-21T12:00:00.000Z", isAnnounced: false };
          this.tombstones.set(digest, placed);
          return correlationId === undefined ? placed : { correlationId, ...placed };
        },
        isPlaced: async (digest) => this.tombstones.has(digest),
        markAnnounced: async (digest) => {
          this.#burn();
          const known = this.tombstones.get(digest);
          if (known !== undefined) this.tombstones.set(digest, { ...known, isAnnounced: true });
        },
        keepFound: async () => this.#burn(),
      },
      writeLog: async (digest, erasedAt) => {
        this.#burn();
        this.erasureLog.set(digest, erasedAt);
      },
      records: this.#records,
      objects: this.#objects,
      bodies: {
        find: async (key) => {
          const text = this.objects.get(key);
          return text === undefined ? undefined : Buffer.from(text);
        },
      },
      deadLetters: () => [["users", [this.#place(this.deadLetters), this.#place(this.archived)]]],
      takeSweep: async () => async () => undefined,
      lookAgainSeconds: () => 0,
      removeGivenUp: async (isUnwanted) => {
        this.#burn();
        const count = this.givenUp.flat().length;
        this.givenUp = this.givenUp.map((batch) => batch.filter((record) => !isUnwanted(record)));
        return count - this.givenUp.flat().length;
      },
      publish: async () => [],
      keepReport: async ({ subject: _, namedWith, claimed, erased, ...counts }) => {
        this.#burn();
        this.reports.push(counts);
      },
      send: async (_, messages) => {
        this.#burn();
        for (const { body, delayInSeconds = 0 } of messages)
          this.tasks.push({ body, isDelayed: delayInSeconds > 0 });
        return messages.map(() => undefined);
      },
      queueUrl: "erase",
      deadLetterQueueUrl: "erase-dead-letters",
      settleSeconds: 1,
      eventSource: "/model",
      log: this.log.log,
    };
  }
}

/** In the stage it is keyed; here it only hides the id. */
function digestOf(subject: Subject): string {
  return Buffer.from(nameOf(subject)).toString("hex");
}
