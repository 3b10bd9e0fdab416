import type { Subject } from "../../../domain/event/subjects.ts";
import type { ReadInPages } from "../../../domain/fetch/coverage.ts";
import type { FetchTask } from "../../../domain/fetch/task.ts";
import { maxReceiveCount } from "../../../domain/fetch/waiting.ts";
import { Processes } from "./process.ts";
import { type Content, Provider, type Webhook } from "./provider.ts";
import { FifoQueue, StandardQueue } from "./queues.ts";
import { Table } from "./table.ts";

/** A task of the fetch queue. `version` is nothing that the pipeline knows: what its document must be read for. */
export type Task = { readonly task: FetchTask; readonly version: number };
/** Checks later that events answered a start. `versions` is nothing that the pipeline knows: what the start brought. */
export type Check = {
  readonly subject: Subject;
  readonly cause: string;
  readonly versions: ReadonlyMap<string, number>;
};
export type Erasure = { readonly subject: Subject; readonly pass: 1 | 2 };
/** What subscribers get. `document`: its object, if its content is too large for an item. */
export type Announcement = {
  readonly id: string;
  readonly sequence: number;
  readonly subject: string;
  readonly digest?: string | undefined;
  readonly object?: string | undefined;
};
/** What was read so far of a list. */
export type Pages = ReadInPages & {
  readonly content: Content;
  readonly calledAt: number;
  readonly began: number;
};

/** How many messages or changes a function gets at once. */
export const batch = 5;
/** In milliseconds: how long a function runs at most, and for how long a message that it got is hidden. */
export const lifetime = 60_000;
export const visibility = 360_000;
const begin = Date.UTC(2026, 0, 1);

/** All that is outside of the processes, and what is looked at to see whether a law is broken. */
export class World {
  now = begin;
  readonly provider = new Provider();
  readonly table = new Table(() => this.now);
  readonly processes = new Processes();
  readonly webhooks = new StandardQueue<Webhook>("webhook");
  readonly tasks = new FifoQueue<Task>(maxReceiveCount);
  readonly checks = new StandardQueue<Check>("check");
  readonly erasures = new StandardQueue<Erasure>("erasure");
  readonly objects = new Map<string, Content>();
  readonly pages = new Map<string, Pages>();
  /** Objects that no document names any more; they are deleted some time later. */
  readonly superseded: string[] = [];
  readonly announcements: Announcement[] = [];
  /** The messages of each event that were deleted since it was stored. */
  readonly taken = new Map<string, Set<string>>();
  /** How much of the stream is done. */
  relayed = 0;
  /** Whether the stream's consumer gave changes up, which `repair` derives again. */
  needsRepair = false;
  repairs = 0;
  /** Whatever went wrong: each may cost one more call. */
  strikes = 0;
  /** Reads of documents that no event came after, see `countExcess`. */
  excess = 0;
  /** Which documents a start brought, by key: the provider's version. */
  readonly started = new Map<string, number>();
  readonly violations: string[] = [];
  /** By how much SQS's clock is ahead of DynamoDB's, in milliseconds. */
  readonly #clockGap: number;

  constructor(clockGap = 0) {
    this.#clockGap = clockGap;
  }

  /** SQS's clock. */
  get queueTime(): number {
    return this.now + this.#clockGap;
  }

  /** The `Date` of an answer of DynamoDB's: whole seconds. */
  get serviceDate(): number {
    return Math.floor(this.now / 1_000) * 1_000;
  }

  get isoTime(): string {
    return new Date(this.now).toISOString();
  }

  /** A batch of statements that holds a key twice fails as a whole. */
  requireDistinct(keys: readonly string[]): void {
    this.require(new Set(keys).size === keys.length, "a batch holds each key once");
  }

  require(isKept: boolean, law: string): void {
    if (!isKept) this.violations.push(law);
  }
}
