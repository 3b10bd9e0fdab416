import {
  documentKey,
  eventKey,
  linkKey,
  partitionOf,
  stateKey,
  supersededKey,
} from "../../../adapters/dynamodb/keys.ts";
import { readRecord, withoutAccounts } from "../../../adapters/erasure/erasable-records.ts";
import type { Tombstone } from "../../../adapters/erasure/tombstones.ts";
import { retryable } from "../../../domain/core/failures.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { applyEvent, parseState } from "../../../domain/state/state.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";
import { keptLog } from "../../support/kept-log.ts";
import { DeadLetters, Lease } from "./dead-letters.ts";
import { type Fetched, type Piece, placeOfItem, placeOfObject, type StoredEvent, World } from "./world.ts";

type Item = { readonly pk: string; readonly sk: string } & Record<string, unknown>;

/** An erasure's data in memory, with the eraser's ports. */
export class MemoryWorld extends World {
  readonly ports: EraserDependencies;
  readonly #items = new Map<string, Item>();
  readonly #objects = new Map<string, string>();
  readonly #deadLetters = new DeadLetters({ hides: true });
  readonly #archived = new DeadLetters({ hides: false });
  readonly #lease = new Lease();
  /** Batches of records that the relay gave up. */
  #givenUp: (readonly string[])[] = [];
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #erasureLog = new Map<string, string>();
  readonly #reports: unknown[] = [];
  readonly #log = keptLog();
  #fuse: number | undefined;
  #count = 0;

  constructor() {
    super();
    this.ports = this.#makePorts();
  }

  async erased(subjects: readonly Subject[]): Promise<ReadonlySet<string>> {
    return new Set(subjects.filter((each) => this.#tombstones.has(digestOf(each))).map(nameOf));
  }

  async record({ event, body }: StoredEvent): Promise<void> {
    this.#put({ ...eventKey(ownerOf(event), event.id), event, body });
  }

  async project(event: IncomeEvent): Promise<void> {
    const key = stateKey(subjectOf(event));
    const known = this.#items.get(JSON.stringify([key.pk, key.sk]))?.state;
    const state = applyEvent(known === undefined ? undefined : parseState(known), event, 1);
    if (state !== undefined) this.#put({ ...key, state });
  }

  async link(userId: string, accountId: string): Promise<void> {
    this.#put(linkKey(userId, accountId));
  }

  async keepDocument({ account, userId, text, isLarge }: Fetched): Promise<void> {
    this.#count += 1;
    const object = `data/${nameOf(account)}/income/${this.#count}`;
    if (isLarge) this.#objects.set(object, text);
    const document = isLarge ? { userId, object } : { userId, content: text };
    const name = { endpoint: "income" };
    const key = documentKey(account, name);
    const superseded = this.#items.get(JSON.stringify([key.pk, key.sk]))?.document;
    if (superseded !== undefined && "object" in Object(superseded))
      this.#put({ ...supersededKey(account, name, this.#count), document: superseded });
    this.#put({ ...key, document });
  }

  async putBody(key: string, text: string): Promise<void> {
    this.#objects.set(key, text);
  }

  async hasBody(key: string): Promise<boolean> {
    return this.#objects.has(key);
  }

  async leaveDeadLetter(body: string): Promise<void> {
    this.#count += 1;
    this.#deadLetters.add(`m-${this.#count}`, body);
  }

  async archiveDeadLetter(id: string, body: string): Promise<void> {
    this.#archived.add(id, body);
  }

  async hideDeadLetters(): Promise<void> {
    this.#deadLetters.hideAll();
  }

  async giveUp(_: string, records: readonly string[]): Promise<void> {
    this.#givenUp.push(records);
  }

  async startReplay(id: string, subject: Subject, reason: string): Promise<void> {
    this.#put({ pk: "REPLAY", sk: id, reason, after: { pk: partitionOf(subject) } });
  }

  async tick(): Promise<void> {
    this.#deadLetters.tick();
    this.#lease.tick();
  }

  failAfter(calls: number | undefined): void {
    this.#fuse = calls;
  }

  async pieces(): Promise<readonly Piece[]> {
    const texts = (place: string, all: Iterable<unknown>) =>
      Array.from(all, (each) => ({ place, text: typeof each === "string" ? each : JSON.stringify(each) }));
    return [
      ...Array.from(this.#items.values(), (item) => ({
        place: placeOfItem(item),
        text: JSON.stringify(item),
      })),
      ...Array.from(this.#objects, ([key, text]) => ({ place: placeOfObject(key), text })),
      ...texts("dead letter", this.#deadLetters.bodies()),
      ...texts("archived dead letter", this.#archived.bodies()),
      ...texts("given-up change", this.#givenUp.flat()),
      ...texts("tombstone", this.#tombstones),
      ...texts("erasure log", this.#erasureLog),
      ...texts("report", this.#reports),
      ...texts("log", this.#log.entries),
      ...texts("erase task", await this.tasks()),
    ];
  }

  #put(item: Item): void {
    this.#items.set(JSON.stringify([item.pk, item.sk]), item);
  }

  readonly #burn = (): void => {
    if (this.#fuse === undefined) return;
    this.#fuse -= 1;
    if (this.#fuse < 0) throw retryable("injected", 1);
  };

  readonly #records: EraserDependencies["records"] = {
    pagesOf: (subject) => this.#pagesOf(subject),
    remove: async ({ key: { pk, sk } }) => {
      this.#burn();
      return this.#items.delete(JSON.stringify([pk, sk]));
    },
    forget: async ({ key: { pk, sk }, announced }, erased) => {
      this.#burn();
      const item = this.#items.get(JSON.stringify([pk, sk]));
      if (item !== undefined && announced !== undefined)
        this.#put({ ...item, readiness: withoutAccounts(announced, erased) });
      else if (item?.state !== undefined)
        this.#put({ ...item, state: { ...item.state, latest: { cause: "again" } } });
      else if (item?.document !== undefined)
        this.#put({ ...item, document: { ...item.document, userId: undefined } });
    },
    replays: async () => {
      this.#burn();
      const found = [...this.#items.values()].filter(({ pk }) => pk === "REPLAY");
      return found.map(({ pk, sk, ...rest }) => ({
        key: { pk, sk },
        text: JSON.stringify({ pk, sk, ...rest }),
      }));
    },
  };

  async *#pagesOf(subject: Subject) {
    this.#burn();
    const partition = partitionOf(subject);
    const all = [...this.#items.values()].filter(({ pk }) => pk === partition).map(readRecord);
    for (let at = 0; at < all.length; at += 3) yield all.slice(at, at + 3);
  }

  readonly #objectPorts: EraserDependencies["objects"] = {
    remove: async (key) => {
      this.#burn();
      this.#objects.delete(key);
    },
    removeBelow: async (prefix) => {
      this.#burn();
      const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix));
      for (const key of keys) this.#objects.delete(key);
      return keys.length;
    },
    countBelow: async () => 0,
    pagesBelow: (prefix, after = "") => this.#objectsBelow(prefix, after),
  };

  async *#objectsBelow(prefix: string, after: string) {
    this.#burn();
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    yield keys.map((key) => ({ key, bytes: this.#objects.get(key)?.length ?? 0 }));
  }

  readonly #tombstonePorts: EraserDependencies["tombstones"] = {
    place: async (digest, correlationId) => {
      this.#burn();
      const known = this.#tombstones.get(digest);
      const placed = known ?? { erasedAt: "2026-11-21T12:00:00.000Z", isAnnounced: false };
      this.#tombstones.set(digest, placed);
      return correlationId === undefined ? placed : { correlationId, ...placed };
    },
    isPlaced: async (digest) => this.#tombstones.has(digest),
    markAnnounced: async (digest) => {
      this.#burn();
      const known = this.#tombstones.get(digest);
      if (known !== undefined) this.#tombstones.set(digest, { ...known, isAnnounced: true });
    },
    keepFound: async () => this.#burn(),
  };

  /** Subscribers get nothing: their copies are their own. */
  #makePorts(): EraserDependencies {
    return {
      digestOf: async (subject) => digestOf(subject),
      tombstones: this.#tombstonePorts,
      writeLog: async (digest, erasedAt) => {
        this.#burn();
        this.#erasureLog.set(digest, erasedAt);
      },
      records: this.#records,
      objects: this.#objectPorts,
      bodies: {
        tryGet: async (key) => {
          const text = this.#objects.get(key);
          return text === undefined ? "missing" : Buffer.from(text);
        },
      },
      deadLetters: async () => [
        ["users", [this.#deadLetters.source(this.#burn), this.#archived.source(this.#burn)]],
      ],
      takeSweep: this.#lease.take(this.#burn),
      recheckSeconds: () => 0,
      removeUndelivered: async (isUnwanted) => {
        this.#burn();
        const before = this.#givenUp.flat().length;
        this.#givenUp = this.#givenUp.map((batch) => batch.filter((record) => !isUnwanted(record)));
        return { removed: before - this.#givenUp.flat().length, refused: 0 };
      },
      publish: async () => [],
      writeReport: async ({ subject: _, namedWith, claimed, erased, ...counts }) => {
        this.#burn();
        this.#reports.push(counts);
      },
      send: async (_, messages) => {
        this.#burn();
        for (const { body } of messages) await this.ask(body);
        return messages.map(() => undefined);
      },
      queueUrl: "erase",
      deadLetterQueueUrl: "erase-dead-letters",
      settleSeconds: 1,
      drainSeconds: 1,
      eventSource: "/model",
      log: this.#log.log,
    };
  }
}

/** Keyed in the stage; here it only hides the id. */
function digestOf(subject: Subject): string {
  return Buffer.from(nameOf(subject)).toString("hex");
}
