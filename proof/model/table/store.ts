import { isUnordered } from "../../../domain/event/events.ts";
import {
  countReceipts,
  firstReceipts,
  type MergedReceipt,
  mergeReceipts,
} from "../../../domain/event/receipts.ts";
import { batchStep, step, type Work } from "./process.ts";
import type { Webhook } from "./provider.ts";
import type { Received } from "./queues.ts";
import type { StoredEvent } from "./table.ts";
import type { World } from "./world.ts";

type Delivery = Received<Webhook>;
type Merged = MergedReceipt<Delivery> & { readonly version: number };

/** Receives a webhook: it is answered with 2xx once SQS has it. */
export function* receive(world: World, webhook: Webhook): Work {
  yield* step("sends the webhook to SQS", () => world.webhooks.send(webhook, world.queueTime));
  yield* step("answers 2xx", () => {
    webhook.isAnswered = true;
  });
}

/** Stores a batch of webhooks; those that it does not delete SQS delivers again. */
export function* store(world: World, messages: readonly Delivery[]): Work {
  const merged = mergeReceipts(messages, ({ body: { event }, id, sentAt }) => ({
    event,
    message: { id, sentAt },
  })).map((one) => ({ ...one, version: versionOf(one, messages) }));
  // Only what can be a true repeat is looked up: a strong event that is known fails to be inserted.
  const weak = merged.filter(({ receipt }) => isUnordered(receipt.body.event));
  const known = yield* lookUp(world, weak, false);
  const first = yield* write(world, merged, known);
  // What was looked up has changed since.
  const again = yield* lookUp(world, first.again, true);
  const second = yield* write(world, first.again, again);
  const done = [...first.done, ...second.done];
  yield* step("deletes stored webhooks", () => {
    for (const one of done) remove(world, one);
  });
}

function remove(world: World, { receipt, messages }: Merged): void {
  const ids = messages.map(({ id }) => id);
  const { id } = receipt.body.event;
  world.taken.set(id, new Set([...(world.taken.get(id) ?? []), ...ids]));
  world.webhooks.remove(ids);
}

function versionOf({ messages }: MergedReceipt<Delivery>, deliveries: readonly Delivery[]): number {
  const ids = messages.map(({ id }) => id);
  return Math.max(...deliveries.filter(({ id }) => ids.includes(id)).map(({ body }) => body.version));
}

function* lookUp(
  world: World,
  merged: readonly Merged[],
  isConsistent: boolean,
): Work<ReadonlyMap<string, StoredEvent>> {
  if (merged.length === 0) return new Map();
  const find = ({ receipt }: Merged) => {
    const { id } = receipt.body.event;
    const item = world.table.lookUpEvent(id, isConsistent);
    return item === undefined ? [] : [[id, item] as const];
  };
  return yield* step("looks up events", () => new Map(merged.flatMap(find)));
}

type Written = { readonly done: readonly Merged[]; readonly again: readonly Merged[] };

function* write(
  world: World,
  merged: readonly Merged[],
  known: ReadonlyMap<string, StoredEvent>,
): Work<Written> {
  const statements = merged.map((one) => ({
    one,
    ...statementOf(world, one, known.get(one.receipt.body.event.id)),
  }));
  const written = statements.filter(({ run }) => run !== undefined);
  world.requireDistinct(written.map(({ one }) => one.receipt.body.event.id));
  const answers = yield* batchStep(
    "writes events",
    written.map(
      ({ run }) =>
        () =>
          run?.() ?? false,
    ),
  );
  const unanswered = written.filter((_, index) => answers[index] === "none");
  const refused = written.filter((_, index) => {
    const answer = answers[index];
    return answer !== undefined && answer !== "none" && !answer.is;
  });
  // That a strong event is there already is all that is to be known of it.
  const again = refused.filter(({ one }) => isUnordered(one.receipt.body.event));
  const open = [...unanswered, ...again];
  return {
    done: statements.filter((statement) => !open.includes(statement)).map(({ one }) => one),
    again: again.map(({ one }) => one),
  };
}

/** @returns no statement where SQS delivered again what is counted */
function statementOf(
  { table }: World,
  one: Merged,
  known: StoredEvent | undefined,
): { readonly run?: () => boolean } {
  const { event } = one.receipt.body;
  const { version } = one;
  if (known === undefined) {
    return { run: () => table.insertEvent({ event, receipts: firstReceipts(event, one), version }) };
  }
  const receipts = countReceipts(known.receipts, one);
  return receipts === undefined ? {} : { run: () => table.countEvent(known, receipts, version) };
}
