import { eventPrefix, partitionOf, supersededPrefix } from "../../../adapters/dynamodb/keys.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";
import { account, type Person, user } from "./people.ts";

export type StoredEvent = { readonly event: IncomeEvent; readonly body: Body };

/** A message of the eraser's queue, held by an invocation. */
export type EraseMessage = { readonly body: string };

/** Possible data of a person. Its place has the same name in each run of a history. */
export type Piece = { readonly place: string; readonly text: string };

/** A document as fetched. */
export type Fetched = {
  readonly account: Subject;
  readonly userId: string;
  readonly text: string;
  /** Whether its data is in an object beside the item. */
  readonly isLarge: boolean;
};

/** An erasure's surroundings. */
export abstract class World {
  #tasks: readonly EraseMessage[] = [];
  /** The eraser's dependencies. */
  abstract readonly ports: EraserDependencies;
  /** Names of those subjects who are erased. */
  abstract erased(subjects: readonly Subject[]): Promise<ReadonlySet<string>>;
  abstract record(stored: StoredEvent): Promise<void>;
  abstract project(event: IncomeEvent): Promise<void>;
  abstract link(userId: string, accountId: string): Promise<void>;
  abstract keepDocument(fetched: Fetched): Promise<void>;
  abstract putBody(key: string, text: string): Promise<void>;
  abstract hasBody(key: string): Promise<boolean>;
  abstract leaveDeadLetter(body: string): Promise<void>;
  abstract archiveDeadLetter(id: string, body: string): Promise<void>;
  /** Another reader of dead letters hides those that it sees, and is killed. */
  abstract hideDeadLetters(): Promise<void>;
  /** Stores records that the relay gave up, in one batch. */
  abstract giveUp(id: string, records: readonly string[]): Promise<void>;
  abstract startReplay(id: string, subject: Subject, reason: string): Promise<void>;
  /** Advances time: messages hidden by killed readers become visible sooner. */
  abstract tick(): Promise<void>;
  /** Fails every call after this many, as if the function had ended; undefined: none. */
  abstract failAfter(calls: number | undefined): void;
  /** Read once, at the end. */
  abstract pieces(): Promise<readonly Piece[]>;

  /** Sends a message to the eraser's queue. */
  async ask(body: string): Promise<void> {
    this.#tasks = [...this.#tasks, { body }];
  }

  /** All messages of the eraser's queue; empty only if none will come. A history takes them in any order. */
  async tasks(): Promise<readonly EraseMessage[]> {
    return this.#tasks;
  }

  /** Deletes a handled message. */
  async finish(task: EraseMessage): Promise<void> {
    this.#tasks = this.#tasks.filter((each) => each !== task);
  }
}

/** Name of an object; of data only its owner, because its suffix depends on the time of writing. */
export function placeOfObject(key: string): string {
  return `object ${key.startsWith("data/") ? key.slice(0, key.lastIndexOf("/")) : key}`;
}

/**
 * Key of an item; of a note of superseded data without the time of its announcement, which differs between
 * runs.
 */
export function placeOfItem({ pk, sk }: { readonly pk: string; readonly sk: string }): string {
  return `item ${pk} ${sk.startsWith(supersededPrefix) ? sk.replace(/@\d+$/, "") : sk}`;
}

/**
 * Places of a person's data: with their mark, and under their names. An event without the mark may name two
 * people, and is stored with one of them. A body that was not text is in base64.
 */
export function holdingsOf(person: Person, pieces: readonly Piece[]): readonly string[] {
  const begins = [user(person), account(person)].flatMap((subject) => [
    placeOfItem({ pk: partitionOf(subject), sk: "" }),
    `object data/${nameOf(subject)}/`,
  ]);
  const isTheirs = ({ place, text }: Piece) =>
    text.includes(person.mark) ||
    (place.startsWith("object bodies/") && Buffer.from(text, "base64").includes(person.mark)) ||
    begins.some((begin) => place.startsWith(begin) && !place.startsWith(`${begin}${eventPrefix}`));
  return pieces
    .filter(isTheirs)
    .map(({ place }) => place)
    .toSorted();
}
