import type { StreamRecord } from "@income-events/local-stack/sources/stream-record.ts";
import { z } from "zod";
import type { Batch } from "./expected.ts";

/** What became of a batch, seen from outside: in the table's stream and on the subscriber's queue. */
export type Outcome = {
  /** Distinct events that were not stored or not reported, and data that was not reported. */
  readonly lost: number;
  /** Extra records of an event, and messages of one id that say something else. */
  readonly doubled: number;
};

export type Observer = {
  /** Notes what the table's stream announced. */
  see(records: readonly Pick<StreamRecord, "eventName" | "dynamodb">[]): void;
  /** Notes a message that was taken from the subscriber's queue. */
  receive(body: string): void;
  /** How much of the batch is still to come. */
  missing(): number;
  outcome(): Outcome;
};

const message = z.object({ id: z.string(), type: z.string(), subject: z.string() });

/** Watches one batch. */
export function observerOf(batch: Pick<Batch, "events" | "data">): Observer {
  const stored = new Map<string, number>();
  const announced = new Map<string, string>();
  const data = new Set<string>();
  let changed = 0;
  const missing = () => {
    const events = [...batch.events].filter((id) => !stored.has(id) || !announced.has(id));
    return events.length + [...batch.data].filter((name) => !data.has(name)).length;
  };
  return {
    see: (records) => {
      for (const { eventName, dynamodb } of records) {
        const id = eventName === "INSERT" ? eventIn(dynamodb.Keys) : undefined;
        if (id !== undefined) stored.set(id, (stored.get(id) ?? 0) + 1);
      }
    },
    receive: (body) => {
      const { id, type, subject } = message.parse(JSON.parse(body));
      const before = announced.get(id);
      if (before !== undefined && before !== body) changed += 1;
      announced.set(id, body);
      if (type === "data.updated") data.add(subject);
    },
    missing,
    outcome: () => ({
      lost: missing(),
      doubled: changed + [...stored.values()].reduce((extra, times) => extra + times - 1, 0),
    }),
  };
}

const keys = z.object({ sk: z.object({ S: z.string() }) });

function eventIn(key: unknown): string | undefined {
  const sortKey = keys.safeParse(key).data?.sk.S;
  return sortKey?.startsWith("EVENT#") ? sortKey.slice("EVENT#".length) : undefined;
}
