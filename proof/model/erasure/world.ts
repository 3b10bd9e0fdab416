import { supersededPrefix } from "../../../adapters/dynamodb/keys.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";

/** An event with the body that it came from. */
export type StoredEvent = { readonly event: IncomeEvent; readonly body: Body };

/** A message of the eraser's queue, which an invocation has in its hands. */
export type EraseMessage = { readonly body: string };

/** Something that may hold somebody's data. Its place says where it lies, as every world calls it. */
export type Piece = { readonly place: string; readonly text: string };

/** A document as a fetch brings it. */
export type Fetched = {
  readonly account: Subject;
  readonly userId: string;
  readonly text: string;
  /** Whether its data lies in an object beside the item. */
  readonly isLarge: boolean;
};

/** All that an erasure touches: in memory, or in real engines. */
export type World = {
  /** What the eraser works with. */
  readonly ports: EraserDependencies;
  /** Names of those of some subjects who are erased. */
  erased(subjects: readonly Subject[]): Promise<ReadonlySet<string>>;
  record(stored: StoredEvent): Promise<void>;
  project(event: IncomeEvent): Promise<void>;
  link(userId: string, accountId: string): Promise<void>;
  keepDocument(fetched: Fetched): Promise<void>;
  putBody(key: string, text: string): Promise<void>;
  hasBody(key: string): Promise<boolean>;
  leaveDeadLetter(body: string): Promise<void>;
  archiveDeadLetter(id: string, body: string): Promise<void>;
  /** Another reader of dead letters hides those that it sees, and ends by force. */
  hideDeadLetters(): Promise<void>;
  /** Keeps records that the relay gave up on, in one batch. */
  giveUp(id: string, records: readonly string[]): Promise<void>;
  startReplay(id: string, subject: Subject, reason: string): Promise<void>;
  /** Sends a message to the eraser's queue. */
  ask(body: string): Promise<void>;
  /** All messages of the eraser's queue, none only where none will come. */
  tasks(): Promise<readonly EraseMessage[]>;
  /** Deletes a message that was handled. */
  finish(task: EraseMessage): Promise<void>;
  /** A while passes: what readers who ended by force have hidden comes nearer. */
  tick(): Promise<void>;
  /** After so many calls every one fails, as if the function ended; undefined: none. */
  failAfter(calls: number | undefined): void;
  /** Read once, at the end. */
  pieces(): Promise<readonly Piece[]>;
};

/** The name of an object: of data, only whose it is, for its end depends on when it was written. */
export function placeOfObject(key: string): string {
  return `object ${key.startsWith("data/") ? key.slice(0, key.lastIndexOf("/")) : key}`;
}

/** An item's key: of a note of superseded data without when that was announced, which each world counts by itself. */
export function placeOfItem({ pk, sk }: { readonly pk: string; readonly sk: string }): string {
  return `item ${pk} ${sk.startsWith(supersededPrefix) ? sk.replace(/@\d+$/, "") : sk}`;
}
