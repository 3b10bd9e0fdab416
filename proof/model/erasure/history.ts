import { gzipSync } from "node:zlib";
import { type Body, envelopeVersion, writeEnvelope } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { documentTask, writeTask } from "../../../domain/fetch/task.ts";
import {
  eraseTask,
  eraseTaskForLateData,
  readEraseTask,
  subjectsIn,
  writeEraseTask,
} from "../../../domain/recovery/erasure.ts";
import type { Change } from "../../../domain/state/change.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { context, sqsEvent } from "../../support/invocations.ts";
import { account, type Person, recordOf, user, written } from "./people.ts";
import type { EraseMessage, StoredEvent, World } from "./world.ts";

/** Actions in any order, on any person; `pick` and `form` choose how. */
export const actions = [
  "webhook",
  "large webhook",
  "user webhook",
  "webhook again",
  "wrong pair",
  "relay",
  "write",
  "fetch",
  "dead letter",
  "task dead letter",
  "archived dead letter",
  "hidden dead letters",
  "body without a pointer",
  "given up",
  "replay",
  "erase",
  "erase step",
  "erase step",
  "erase step",
  "erase steps at once",
  "failing erase step",
] as const;
export type Action = (typeof actions)[number];
export type Happening = {
  readonly what: Action;
  readonly who: number;
  readonly pick: number;
  readonly form: number;
};

const time = "2026-11-21T12:00:00.000Z";

/** A history of several people, run with the eraser's own code. */
export class History {
  readonly #world: World;
  readonly #people: readonly Person[];
  #handler: ReturnType<typeof eraser> | undefined;
  /** Changes that the relay has not handled yet, and writes of functions in flight. */
  readonly #changes: Change[] = [];
  readonly #writes: (() => Promise<void>)[] = [];
  readonly #events: StoredEvent[] = [];
  readonly #asked = new Set<Person>();
  /** Subjects that functions remember as not erased. */
  readonly #unerased = new Set<string>();
  /** People whose erasure has begun its last search of the dead letters. */
  readonly #searched = new Set<string>();
  #at = 0;
  #count = 0;

  constructor(world: World, people: readonly Person[]) {
    this.#world = world;
    this.#people = people;
  }

  /**
   * Ends with a late retry of each webhook.
   * @param without an action to leave out; the others keep the same names
   */
  async play(
    happenings: readonly Happening[],
    without: (happening: Happening) => boolean = () => false,
  ): Promise<void> {
    // The owner of an account is known from the start.
    await Promise.all(this.#people.map((person) => this.#receive(person, 0, false)));
    await this.#relayAll();
    await Promise.all(this.#writes.splice(0).map((write) => write()));
    for (const [index, happening] of happenings.entries()) {
      this.#at = index + 1;
      this.#count = 0;
      if (!without(happening)) await this.#happen(happening);
    }
    await this.#finish();
    for (const event of this.#events) await this.#store(event);
    await this.#finish();
  }

  async #finish(): Promise<void> {
    this.#at += 1;
    for (;;) {
      await this.#waitUntilIdle();
      const [task] = await this.#world.tasks();
      if (task === undefined) return;
      await this.#perform([task]);
    }
  }

  /** People whose erasure was requested while data existed. */
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
      case "user webhook":
        return this.#receiveAttributes(person);
      case "webhook again":
        return this.#store(this.#events[pick % this.#events.length]);
      case "wrong pair":
        return this.#receiveWrongPair(person, this.#people[pick % this.#people.length] ?? person);
      case "relay":
        return this.#relay();
      case "write":
        return this.#writes.shift()?.();
      case "fetch":
        return this.#fetch(person, form);
      case "erase":
        this.#asked.add(person);
        return this.#world.ask(writeEraseTask(eraseTask(user(person), "operator", [], this.#next())));
      case "erase step":
        return this.#perform(await this.#ready(pick, 1));
      case "erase steps at once":
        return this.#perform(await this.#ready(pick, 2));
      case "failing erase step":
        return this.#perform(await this.#ready(pick, 1), form);
      case "hidden dead letters":
        return this.#world.hideDeadLetters();
      default:
        // A failure after the last search of the dead letters is not the erasure's to find.
        if (what === "given up" || !this.#searched.has(person.userId)) await this.#leave(what, person, form);
    }
  }

  async #leave(what: Action, person: Person, form: number): Promise<void> {
    const world = this.#world;
    const id = this.#next();
    const body = this.#body(person, form);
    switch (what) {
      case "dead letter":
        return world.leaveDeadLetter(this.#envelope(await this.#placed(body, form % 2 === 0)));
      case "task dead letter": {
        const task = documentTask(account(person), { endpoint: "income" }, 1, { cause: person.mark });
        return world.leaveDeadLetter(writeTask(task));
      }
      case "archived dead letter":
        return world.archiveDeadLetter(id, this.#envelope(await this.#placed(body, form % 2 === 0)));
      case "body without a pointer":
        return world.putBody(
          `bodies/users/${id}`,
          form % 2 === 0 ? body : Buffer.from(body).toString("base64"),
        );
      case "given up":
        return world.giveUp(id, this.#people.filter((each) => !this.#asked.has(each)).map(recordOf));
      case "replay":
        return world.startReplay(id, user(person), person.mark);
    }
  }

  /** A name derived from its position, so it is stable when other actions happen too. */
  #next(): string {
    this.#count += 1;
    return `m-${this.#at}-${this.#count}`;
  }

  /** The mark stays readable where ids are compressed. */
  #body({ userId, accountId, mark }: Person, form: number): string {
    const ids = `"user_id":${written(userId, form)},"account_id":${written(accountId, form + 1)}`;
    const data = () => gzipSync(`{${ids}}`).toString(form % 2 === 0 ? "base64" : "hex");
    return `{"event":"connect_account",${form < 16 ? ids : `"data":"${data()}"`},"mark":"${mark}"}`;
  }

  async #placed(text: string, isLarge: boolean): Promise<Body> {
    if (!isLarge) return { type: "text", text };
    const key = `bodies/accounts/${this.#next()}`;
    await this.#world.putBody(key, text);
    return { type: "object", key, encoding: "text", bytes: text.length };
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

  async #receive(person: Person, form: number, isLarge: boolean): Promise<void> {
    const event = { ...this.#event(), userId: person.userId, accountId: person.accountId };
    await this.#storeFirst({ event, body: await this.#placed(this.#body(person, form), isLarge) });
  }

  /** Adds attributes of an event to the user's state. */
  #receiveAttributes({ userId, mark }: Person): Promise<void> {
    const { connected: _, ...event } = this.#event();
    const facts = { kind: "users", type: "user.updated", userId, attributes: { loanId: mark } } as const;
    return this.#storeFirst({ event: { ...event, ...facts }, body: { type: "text", text: "{}" } });
  }

  /** Receives an event about data that names a user and somebody else's account. */
  #receiveWrongPair({ userId }: Person, { accountId }: Person): Promise<void> {
    const event = {
      ...this.#event(),
      type: "endpoint.updated",
      endpoint: "income",
      userId,
      accountId,
    } as const;
    return this.#storeFirst({ event, body: { type: "text", text: "{}" } });
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

  #storeFirst(stored: StoredEvent): Promise<void> {
    this.#events.push(stored);
    return this.#store(stored);
  }

  async #store(stored: StoredEvent | undefined): Promise<void> {
    if (stored === undefined) return;
    const { event, body } = stored;
    // A retry brings the body again.
    if (body.type === "object" && !(await this.#world.hasBody(body.key))) return;
    await this.#world.record(stored);
    const receipts = { count: 1, first: "m", last: "m", firstAt: 0, since: 0 };
    this.#changes.push({ type: "event", event, receipts, countBefore: 0 });
  }

  /** Erased people cause only their erasure; others also the writes of a function in flight. */
  async #relay(): Promise<void> {
    const change = this.#changes.shift();
    if (change?.type !== "event") return;
    const { event } = change;
    const late = eraseTaskForLateData(change, await this.#erasedOf(subjectsIn(change)));
    if (late !== undefined) return this.#world.ask(writeEraseTask(late));
    if (event.endpoint !== undefined) return;
    const { userId = "", accountId } = event;
    if (accountId !== undefined) this.#writes.push(() => this.#world.link(userId, accountId));
    this.#writes.push(() => this.#world.project(event));
  }

  async #fetch(person: Person, form: number): Promise<void> {
    if ((await this.#erasedOf([account(person)])).size > 0) return;
    const { mark, userId } = person;
    const text = JSON.stringify([this.#next(), mark]);
    const fetched = { account: account(person), userId, text, isLarge: form % 4 === 0 };
    this.#writes.push(() => this.#world.keepDocument(fetched));
  }

  async #erasedOf(subjects: readonly Subject[]): Promise<ReadonlySet<string>> {
    const erased = await this.#world.erased(subjects.filter((each) => !this.#unerased.has(nameOf(each))));
    for (const name of subjects.map(nameOf)) if (!erased.has(name)) this.#unerased.add(name);
    return erased;
  }

  /** The second pass waits until every function in flight has ended. */
  async #ready(pick: number, count: number): Promise<readonly EraseMessage[]> {
    const tasks = await this.#world.tasks();
    const ready = tasks.filter(({ body }) => {
      const { pass, next } = readEraseTask(body);
      return pass === 1 || next !== "subjects" || this.#writes.length === 0;
    });
    const first = ready.length === 0 ? 0 : pick % ready.length;
    return [...ready.slice(first), ...ready.slice(0, first)].slice(0, count);
  }

  /** Runs steps concurrently. */
  async #perform(tasks: readonly EraseMessage[], callsUntilFailure?: number): Promise<void> {
    const world = this.#world;
    await world.tick();
    for (const { body } of tasks) {
      const { subject, pass, next, isThorough } = readEraseTask(body);
      // The eraser waits until new tombstones are known.
      if (next === "records" && isThorough) this.#unerased.clear();
      if (pass === 2 && next === "dead letters") this.#searched.add(subject.id);
    }
    world.failAfter(callsUntilFailure);
    this.#handler ??= eraser(world.ports);
    const handler = this.#handler;
    const failed = await Promise.all(
      tasks.map(async ({ body }) => {
        const message = { MessageId: "m", ReceiptHandle: "r", Body: body };
        const { batchItemFailures } = await handler(sqsEvent([message]), context);
        return batchItemFailures.length > 0;
      }),
    );
    world.failAfter(undefined);
    for (const [index, task] of tasks.entries()) if (failed[index] !== true) await world.finish(task);
  }

  /** Relays concurrently, like the changes of a batch. */
  async #relayAll(): Promise<void> {
    // Each relay removes a change from the list.
    await Promise.all([...this.#changes].map(() => this.#relay()));
  }

  async #waitUntilIdle(): Promise<void> {
    await this.#relayAll();
    for (const write of this.#writes.splice(0)) await write();
  }
}
