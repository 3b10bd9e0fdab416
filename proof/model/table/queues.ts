/** A message of a queue. Times are milliseconds by SQS's clock. */
export type Message<T> = {
  readonly id: string;
  readonly body: T;
  readonly sentAt: number;
  visibleAt: number;
  receives: number;
  firstReceivedAt: number;
  /** Changes with each receive: with an older one a FIFO queue refuses to delete or hide. */
  handle: number;
};

export type Received<T> = Message<T> & { readonly receipt: number };

/** A standard queue: at least once, in no order. */
export class StandardQueue<T> {
  messages: readonly Message<T>[] = [];
  readonly #name: string;
  #sent = 0;

  constructor(name: string) {
    this.#name = name;
  }

  send(body: T, now: number, delay = 0): void {
    this.#sent += 1;
    const times = { sentAt: now, visibleAt: now + delay, firstReceivedAt: 0 };
    this.messages = [
      ...this.messages,
      { id: `${this.#name}-${this.#sent}`, body, ...times, receives: 0, handle: 0 },
    ];
  }

  visible(now: number): readonly Message<T>[] {
    return this.messages.filter(({ visibleAt }) => visibleAt <= now);
  }

  receive(messages: readonly Message<T>[], now: number, visibility: number): readonly Received<T>[] {
    return messages.map((message) => received(message, now, visibility));
  }

  remove(ids: readonly string[]): void {
    this.messages = this.messages.filter(({ id }) => !ids.includes(id));
  }
}

export type Grouped<T> = Message<T> & { readonly group: string; readonly deduplication: string };
export type DeadLetter<T> = {
  readonly id: string;
  readonly body: T;
  readonly group: string;
  readonly reason?: string;
};

const deduplicationInMillis = 300_000;
const retentionInMillis = 14 * 86_400_000;

/** A FIFO queue: hands out one batch of a group at a time, and takes what it took lately without delivering it. */
export class FifoQueue<T> {
  messages: readonly Grouped<T>[] = [];
  deadLetters: readonly DeadLetter<T>[] = [];
  /** All that were ever sent, and not swallowed. */
  sent = 0;
  /** All that were kept for too long. */
  dropped = 0;
  readonly #taken = new Map<string, number>();
  readonly #maxReceives: number;

  constructor(maxReceives: number) {
    this.#maxReceives = maxReceives;
  }

  send(body: T, { group, deduplication }: Pick<Grouped<T>, "group" | "deduplication">, now: number): void {
    const key = `${group} ${deduplication}`;
    const taken = this.#taken.get(key);
    if (taken !== undefined && now - taken < deduplicationInMillis) return;
    this.#taken.set(key, now);
    this.sent += 1;
    const times = { sentAt: now, visibleAt: now, firstReceivedAt: 0 };
    const message = { id: `task-${this.sent}`, body, ...times, receives: 0, handle: 0 };
    this.messages = [...this.messages, { ...message, group, deduplication }];
  }

  /** What can be received: the messages of groups of which none is hidden, in their order. */
  visible(now: number): readonly Grouped<T>[] {
    for (const { id, sentAt } of this.messages) {
      if (now - sentAt < retentionInMillis) continue;
      this.#drop(id);
      this.dropped += 1;
    }
    const hidden = new Set(
      this.messages.filter(({ visibleAt }) => visibleAt > now).map(({ group }) => group),
    );
    return this.messages.filter(({ group }) => !hidden.has(group));
  }

  receive(
    messages: readonly Grouped<T>[],
    now: number,
    visibility: number,
  ): readonly (Grouped<T> & Received<T>)[] {
    return messages.flatMap((message) => {
      if (message.receives < this.#maxReceives) return [received(message, now, visibility)];
      this.#drop(message.id);
      this.deadLetters = [...this.deadLetters, { id: message.id, body: message.body, group: message.group }];
      return [];
    });
  }

  /** @returns whether it was deleted: not with the receipt of an earlier receive */
  remove({ id, receipt }: Pick<Received<T>, "id" | "receipt">): boolean {
    if (!this.messages.some((message) => message.id === id && message.handle === receipt)) return false;
    this.#drop(id);
    return true;
  }

  hide({ id, receipt }: Pick<Received<T>, "id" | "receipt">, until: number): void {
    for (const message of this.messages) {
      if (message.id === id && message.handle === receipt) message.visibleAt = until;
    }
  }

  reject(body: T, group: string, reason: string): void {
    this.sent += 1;
    this.deadLetters = [...this.deadLetters, { id: `letter-${this.sent}`, body, group, reason }];
  }

  #drop(id: string): void {
    this.messages = this.messages.filter((message) => message.id !== id);
  }
}

function received<M extends Message<unknown>>(
  message: M,
  now: number,
  visibility: number,
): M & { readonly receipt: number } {
  message.receives += 1;
  message.handle += 1;
  message.visibleAt = now + visibility;
  if (message.receives === 1) message.firstReceivedAt = now;
  return { ...message, receipt: message.handle };
}
