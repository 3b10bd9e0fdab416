import { documentKey, eventKey, linkKey, partitionOf, stateKey } from "../../../adapters/dynamodb/keys.ts";
import { type Body, envelopeVersion, writeEnvelope } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { documentTask, writeTask } from "../../../domain/fetch/task.ts";
import { eraseTask, eraseTaskForLateData, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyEvent, parseState } from "../../../domain/state/state.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { context, sqsEvent } from "../../support/invocations.ts";
import { type Person, written } from "./people.ts";
import { World } from "./world.ts";

/** What can happen, in any order, to any of the people; `pick` and `form` choose how. */
export const actions = [
  "webhook",
  "large webhook",
  "webhook again",
  "wrong pair",
  "relay",
  "write",
  "fetch",
  "dead letter",
  "task dead letter",
  "archived dead letter",
  "body without a pointer",
  "given up",
  "replay",
  "erase",
  "erase step",
  "erase step",
  "erase step",
  "failing erase step",
] as const;
export type Action = (typeof actions)[number];
export type Happening = {
  readonly what: Action;
  readonly who: number;
  readonly pick: number;
  readonly form: number;
};

const user = ({ userId }: Person): Subject => ({ kind: "user", id: userId });
const account = ({ accountId }: Person): Subject => ({ kind: "account", id: accountId });
const time = "2026-11-21T12:00:00.000Z";

/** A history of several people, played with the eraser's own code on what it touches. */
export class History {
  readonly world = new World();
  readonly #people: readonly Person[];
  readonly #handler: ReturnType<typeof eraser>;
  /** Changes that the relay has not looked at yet, and writes of functions in flight. */
  readonly #changes: Change[] = [];
  readonly #writes: (() => void)[] = [];
  readonly #events: { readonly event: IncomeEvent; readonly body: Body }[] = [];
  readonly #asked = new Set<Person>();
  #count = 0;

  constructor(people: readonly Person[]) {
    this.#people = people;
    this.#handler = eraser(this.world.ports());
    // From the start it is known whose an account is.
    for (const person of people) this.#receive(person, 0, false);
    this.#settle();
  }

  async play(happenings: readonly Happening[]): Promise<void> {
    for (const happening of happenings) await this.#happen(happening);
    for (;;) {
      this.#settle();
      if (this.world.tasks.length === 0) return;
      await this.#eraseStep(0);
    }
  }

  /** Whom an erasure was asked for while something was known of them. */
  get asked(): ReadonlySet<Person> {
    return this.#asked;
  }

  async #happen({ what, who, pick, form }: Happening): Promise<void> {
    const person = this.#people[who % this.#people.length];
    if (person === undefined) return;
    switch (what) {
      case "webhook":
      case "large webhook":
        return this.#receive(person, form, what === "large webhook");
      case "webhook again":
        return this.#store(this.#events[pick % this.#events.length]);
      case "wrong pair":
        return this.#receiveWrongPair(person, this.#people[pick % this.#people.length] ?? person);
      case "relay":
        return this.#relay();
      case "write":
        return this.#writes.shift()?.();
      case "fetch":
        return this.#fetch(person);
      case "erase":
        this.#asked.add(person);
        return this.#ask(person);
      case "erase step":
        return this.#eraseStep(pick);
      case "failing erase step":
        return this.#eraseStep(pick, form);
      default:
        // What fails after the last look at the dead letters is no longer an erasure's to find.
        if (what === "given up" || !this.#asked.has(person)) this.#leave(what, person, form);
    }
  }

  #leave(what: Exclude<Action, `erase${string}`>, person: Person, form: number): void {
    const { world } = this;
    const messageId = this.#next();
    const letter = (body: string) => ({ messageId, sentAt: new Date(0), receives: 1, body });
    const body = this.#body(person, form);
    switch (what) {
      case "dead letter":
        world.deadLetters.push(letter(this.#envelope(this.#placed(body, form % 2 === 0))));
        return;
      case "task dead letter": {
        const task = documentTask(account(person), { endpoint: "income" }, 1, { cause: person.mark });
        world.deadLetters.push(letter(writeTask(task)));
        return;
      }
      case "archived dead letter":
        world.archived.push(letter(this.#envelope(this.#placed(body, form % 2 === 0))));
        return;
      case "body without a pointer":
        world.objects.set(
          `bodies/users/${messageId}`,
          form % 2 === 0 ? body : Buffer.from(body).toString("base64"),
        );
        return;
      case "given up":
        world.givenUp.push(this.#people.filter((each) => !this.#asked.has(each)).map(recordOf));
        return;
      case "replay":
        world.put({
          pk: "REPLAY",
          sk: messageId,
          mark: person.mark,
          after: { pk: partitionOf(user(person)) },
        });
    }
  }

  #next(): string {
    this.#count += 1;
    return `m-${this.#count}`;
  }

  #body({ userId, accountId, mark }: Person, form: number): string {
    return `{"event":"connect_account","user_id":${written(userId, form)},"account_id":${written(accountId, form + 1)},"mark":"${mark}"}`;
  }

  #placed(text: string, isLarge: boolean): Body {
    if (!isLarge) return { as: "text", text };
    const key = `bodies/accounts/${this.#next()}`;
    this.world.objects.set(key, text);
    return { as: "object", key, of: "text", bytes: text.length };
  }

  #envelope(body: Body): string {
    return writeEnvelope({
      schemaVersion: envelopeVersion,
      kind: "accounts",
      id: "e",
      receivedAt: time,
      body,
    });
  }

  #receive(person: Person, form: number, isLarge: boolean): void {
    const event = { ...this.#event(), userId: person.userId, accountId: person.accountId };
    this.#store({ event, body: this.#placed(this.#body(person, form), isLarge) });
  }

  /** An event that announces data names a user and somebody else's account. */
  #receiveWrongPair({ userId }: Person, { accountId }: Person): void {
    const event = {
      ...this.#event(),
      type: "endpoint.updated",
      endpoint: "income",
      userId,
      accountId,
    } as const;
    this.#store({ event, body: { as: "text", text: "{}" } });
  }

  #event(): IncomeEvent {
    return {
      id: this.#next(),
      kind: "accounts",
      type: "account.connected",
      receivedAt: time,
      connected: true,
    };
  }

  #store(stored: { readonly event: IncomeEvent; readonly body: Body } | undefined): void {
    if (stored === undefined) return;
    const { event, body } = stored;
    // A retry brings the body again.
    if (body.as === "object" && !this.world.objects.has(body.key)) return;
    this.#events.push(stored);
    this.world.put({ ...eventKey(ownerOf(event), event.id), event, body });
    const receipts = { count: 1, first: "m", last: "m", firstAt: 0, since: 0 };
    this.#changes.push({ of: "event", event, receipts, countBefore: 0 });
  }

  /** Of the erased nothing follows but their erasure; of others the writes that a function in flight makes. */
  #relay(): void {
    const change = this.#changes.shift();
    if (change?.of !== "event") return;
    const { event } = change;
    const named = this.#people.flatMap((person) => [user(person), account(person)]);
    const erased = new Set(named.filter((each) => this.world.isErased(each)).map(nameOf));
    const late = eraseTaskForLateData(change, erased);
    if (late !== undefined) {
      this.world.tasks.push({ body: writeEraseTask(late), isDelayed: false });
      return;
    }
    if (event.endpoint !== undefined) return;
    const { userId = "", accountId = "" } = event;
    this.#writes.push(() => this.world.put(linkKey(userId, accountId)));
    this.#writes.push(() => this.#project(event));
  }

  #project(event: IncomeEvent): void {
    const key = stateKey(subjectOf(event));
    const known = this.world.items.get(JSON.stringify([key.pk, key.sk]))?.state;
    const state = applyEvent(known === undefined ? undefined : parseState(known), event, 1);
    if (state !== undefined) this.world.put({ ...key, state });
  }

  #fetch(person: Person): void {
    if (this.world.isErased(account(person))) return;
    const { mark, userId } = person;
    const name = `data/${nameOf(account(person))}/income/${this.#next()}`;
    this.#writes.push(() => {
      this.world.objects.set(name, mark);
      this.world.put({
        ...documentKey(account(person), { endpoint: "income" }),
        document: { userId },
        object: name,
      });
    });
  }

  #ask(person: Person): void {
    const task = eraseTask(user(person), "operator", [], this.#next());
    this.world.tasks.push({ body: writeEraseTask(task), isDelayed: false });
  }

  /** The second pass waits until every function in flight has ended. */
  async #eraseStep(pick: number, callsUntilFailure?: number): Promise<void> {
    const { world } = this;
    const ready = world.tasks.filter(({ isDelayed }) => !isDelayed || this.#writes.length === 0);
    const task = ready[pick % ready.length];
    if (task === undefined) return;
    world.fuse = callsUntilFailure;
    const message = { MessageId: "m", ReceiptHandle: "r", Body: task.body };
    const { batchItemFailures } = await this.#handler(sqsEvent([message]), context);
    world.fuse = undefined;
    if (batchItemFailures.length === 0) world.tasks.splice(world.tasks.indexOf(task), 1);
  }

  #settle(): void {
    while (this.#changes.length > 0) this.#relay();
    for (const write of this.#writes.splice(0)) write();
  }
}

/** A change of a person's in what the relay gave up on, as the stream writes it. */
function recordOf(person: Person): string {
  const Keys = { pk: { S: partitionOf(user(person)) }, sk: { S: "EVENT#x" } };
  return JSON.stringify({ dynamodb: { Keys, NewImage: { ...Keys, mark: { S: person.mark } } } });
}
