import {
  documentKey,
  eventKey,
  linkKey,
  partitionOf,
  stateKey,
  supersededKey,
} from "../../../adapters/dynamodb/keys.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { applyEvent, parseState } from "../../../domain/state/state.ts";
import { type Fetched, type Piece, placeOfItem, placeOfObject, type StoredEvent, World } from "./world.ts";

type Item = { readonly pk: string; readonly sk: string } & Record<string, unknown>;

/** A world in memory where nobody is erased: it has what an erasure must spare. */
export class UndisturbedWorld extends World {
  readonly #items = new Map<string, Item>();
  readonly #objects = new Map<string, string>();
  /** Other texts, with their places. */
  readonly #texts: Piece[] = [];
  #count = 0;

  /** @throws since nothing is erased here */
  get ports(): never {
    throw new Error("nobody is erased in this world");
  }

  async erased(): Promise<ReadonlySet<string>> {
    return new Set();
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

  async leaveDeadLetter(text: string): Promise<void> {
    this.#texts.push({ place: "dead letter", text });
  }

  async archiveDeadLetter(_: string, text: string): Promise<void> {
    this.#texts.push({ place: "archived dead letter", text });
  }

  async hideDeadLetters(): Promise<void> {}

  async giveUp(_: string, records: readonly string[]): Promise<void> {
    this.#texts.push(...records.map((text) => ({ place: "given-up change", text })));
  }

  async startReplay(id: string, subject: Subject, reason: string): Promise<void> {
    this.#put({ pk: "REPLAY", sk: id, reason, after: { pk: partitionOf(subject) } });
  }

  async tick(): Promise<void> {}

  failAfter(): void {}

  async pieces(): Promise<readonly Piece[]> {
    const items = [...this.#items.values()];
    return [
      ...items.map((item) => ({ place: placeOfItem(item), text: JSON.stringify(item) })),
      ...Array.from(this.#objects, ([key, text]) => ({ place: placeOfObject(key), text })),
      ...this.#texts,
    ];
  }

  #put(item: Item): void {
    this.#items.set(JSON.stringify([item.pk, item.sk]), item);
  }
}
