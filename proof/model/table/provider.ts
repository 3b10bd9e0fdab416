import type { EventType, IncomeEvent } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import type { Subject } from "../../../domain/event/subjects.ts";

/** A document as the provider has it. `version` rises with each change, also where the content is one that it had before. */
export type Content = { readonly version: number; readonly digest: string | undefined };

/** What the provider announces until it is answered with 2xx, and which version of the document it had then. */
export type Webhook = { readonly event: IncomeEvent; readonly version: number; isAnswered: boolean };

export type Name = { readonly subject: Subject; readonly endpoint: string };

const accounts: readonly Subject[] = [
  { kind: "account", id: "first" },
  { kind: "account", id: "second" },
];
/** The second comes in pages. */
export const endpoints = ["income", "employment"] as const;
export const documents: readonly Name[] = accounts.flatMap((subject) =>
  endpoints.map((endpoint) => ({ subject, endpoint })),
);

export const keyOf = ({ subject, endpoint }: Name) => `${subject.id}/${endpoint}`;
export const isPaged = ({ endpoint }: Pick<Name, "endpoint">) => endpoint === endpoints[1];

const digests = ["one", "two", undefined] as const;

/** The truth: the documents that it has, and the webhooks that announce them. */
export class Provider {
  readonly webhooks: Webhook[] = [];
  isDown = false;
  /** Reads of documents, each with all of its pages. */
  reads = 0;
  readonly #contents = new Map<string, Content>();
  readonly #connected = new Map<string, boolean>();
  #events = 0;

  contentOf(name: Name): Content {
    return this.#contents.get(keyOf(name)) ?? { version: 0, digest: undefined };
  }

  isConnected(subject: Subject): boolean {
    return this.#connected.get(subject.id) ?? false;
  }

  /** A document changes to one of few contents. */
  change(name: Name, pick: number): void {
    const { version } = this.contentOf(name);
    this.#contents.set(keyOf(name), { version: version + 1, digest: digests[pick % digests.length] });
  }

  /** @param isStrong whether the event has an id of its own; without one the bytes of all are the same */
  announce(name: Name, isStrong: boolean, time: string): void {
    this.#tell(name.subject, "endpoint.updated", {
      version: this.contentOf(name).version,
      ...(isStrong ? { id: `${keyOf(name)} ${this.#events}` } : { id: keyOf(name) }),
      more: { endpoint: name.endpoint, ...(isStrong ? { time } : {}) },
    });
  }

  connect(subject: Subject, isConnected: boolean, time: string | undefined): void {
    this.#connected.set(subject.id, isConnected);
    const type = isConnected ? "account.connected" : "account.disconnected";
    const id = time === undefined ? `${subject.id} ${type}` : `${subject.id} ${type} ${this.#events}`;
    this.#tell(subject, type, { version: 0, id, more: time === undefined ? {} : { time } });
  }

  /** Starts a fetch: it brings new documents, and the events that would say so may get lost. */
  start(subject: Subject, isAnnounced: boolean, time: string): void {
    for (const endpoint of endpoints) {
      const name = { subject, endpoint };
      this.change(name, this.contentOf(name).version);
      if (isAnnounced) this.announce(name, true, time);
    }
  }

  #tell(
    { id: accountId }: Subject,
    type: EventType,
    {
      id,
      version,
      more,
    }: { readonly id: string; readonly version: number; readonly more: Partial<IncomeEvent> },
  ): void {
    this.#events += 1;
    const kind = type === "endpoint.updated" ? "endpoints" : "accounts";
    const event: IncomeEvent = {
      id: identify(kind, Buffer.from(id)),
      kind,
      type,
      accountId,
      receivedAt: "2026-01-01T00:00:00.000Z",
      ...more,
    };
    this.webhooks.push({ event, version, isAnswered: false });
  }
}
