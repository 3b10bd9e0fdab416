import { type PlannedRead, planRead, timeBefore } from "../../../domain/fetch/coverage.ts";
import { attempt, step, type Work } from "./process.ts";
import { type Content, isPaged, keyOf, type Name } from "./provider.ts";
import type { Delivered, Reading } from "./reading.ts";
import { end, hide, retry, type TaskMessage } from "./retry.ts";
import { doStateTask } from "./state-tasks.ts";
import type { StoredDocument } from "./table.ts";
import type { World } from "./world.ts";
import { writeReadings } from "./write-documents.ts";

/** What was known before a call. `date` is DynamoDB's. */
type Before = {
  readonly stored: StoredDocument | undefined;
  readonly isErased: boolean;
  readonly date: number;
  readonly began: number;
};

/** In seconds: for so long a task waits that came after the first page of what is being read. */
const waitForPages = 2;

/** Does a batch of the fetch queue. @param clock of its Lambda, by which nothing is decided */
export function* fetch(world: World, messages: readonly TaskMessage[], clock: () => number): Work {
  for (const message of messages) {
    if (message.body.task.task !== "fetchDocument") yield* doStateTask(world, message);
  }
  const delivered = messages.flatMap((message): Delivered[] => {
    const { task } = message.body;
    if (task.task !== "fetchDocument") return [];
    const { id: messageId, firstReceivedAt } = message;
    return [{ message, task, messageId, since: task.since, firstReceivedAt }];
  });
  if (delivered.length === 0) return;
  const before = yield* readBefore(world, delivered);
  const readings: Reading[] = [];
  for (const tasks of Map.groupBy(delivered, ({ message }) => message.group).values()) {
    const [first] = tasks;
    const known = first === undefined ? undefined : before.get(keyOf(first.task));
    const reading = known === undefined ? undefined : yield* readFor(world, tasks, { ...known, clock });
    if (reading !== undefined) readings.push(reading);
  }
  yield* writeReadings(world, readings);
}

/** Reads what is stored and who is erased, in one consistent request. */
function* readBefore(world: World, delivered: readonly Delivered[]): Work<ReadonlyMap<string, Before>> {
  const known = ({ task }: Delivered): readonly [string, Before] => {
    const stored = world.table.documents.get(keyOf(task));
    const isErased = world.table.isErased(task.subject);
    return [keyOf(task), { stored, isErased, date: world.serviceDate, began: world.now }];
  };
  return yield* step("reads documents and tombstones", () => new Map(delivered.map(known)));
}

/** Ends what is void, and calls the provider for the rest. @returns undefined where there is nothing to write */
function* readFor(
  world: World,
  tasks: readonly Delivered[],
  before: Before & { readonly clock: () => number },
): Work<Reading | undefined> {
  const { stored, isErased } = before;
  const now = timeBefore(before.date, tasks);
  const again = tasks.find(({ message }) => message.receives > 1);
  const pages =
    again === undefined ? undefined : yield* step("looks for pages", () => world.pages.get(pagesKey(again)));
  const plan = planRead(tasks, stored, { isErased, pages, now });
  yield* end(
    world,
    plan.isVoid.map(({ message }) => message),
  );
  for (const { message } of plan.waiting) yield* hide(world, message, waitForPages);
  const [head] = plan.covered;
  if (head === undefined) return undefined;
  requireOpen(world, plan.covered, before);
  const kept = plan.isResumed ? pages : undefined;
  if (kept === undefined) {
    world.provider.reads += 1;
    countExcess(world, plan.covered, stored);
  }
  const began = kept?.began ?? before.began;
  const calledAt = kept?.calledAt ?? world.now;
  const first = kept === undefined ? yield* call(world, head.task) : { is: kept.content };
  const content =
    first === "none" ? first : yield* readOn(world, head, { plan, first: first.is, calledAt, began });
  const fetchedAt = before.clock();
  if (content !== "none")
    return { name: head.task, plan, stored, content: content.is, calledAt, began, fetchedAt };
  for (const { message } of plan.covered) yield* retry(world, message, "the provider failed", now);
  return undefined;
}

function* call(world: World, name: Name) {
  const answer = yield* attempt(
    step(`reads ${keyOf(name)}`, () => (world.provider.isDown ? undefined : world.provider.contentOf(name))),
  );
  if (answer !== "none" && answer.is !== undefined) return { is: answer.is };
  world.strikes += 1;
  return "none";
}

type FirstPage = {
  readonly plan: PlannedRead<Delivered>;
  readonly first: Content;
  readonly calledAt: number;
  readonly began: number;
};

/** Under its subject's name, where an erasure finds it. */
const pagesKey = ({ task, messageId }: Delivered) => `${keyOf(task)}/${messageId}`;

/** Reads the second page of what comes in pages; where that fails, another run goes on there. */
function* readOn(world: World, head: Delivered, { plan, first, calledAt, began }: FirstPage) {
  if (!isPaged(head.task) || first.digest === undefined) return { is: first };
  const second = yield* call(world, head.task);
  if (second === "none") {
    const { asOf, by, known } = plan;
    const pages = { asOf, by, known, content: first, calledAt, began };
    yield* attempt(step("keeps pages", () => world.pages.set(pagesKey(head), pages)));
    return "none";
  }
  const version = Math.min(first.version, second.is.version);
  return { is: { version, digest: `${first.digest} ${second.is.digest}` } };
}

/**
 * The least that can be is one read for each task that was sent for something newer than what is stored, and for all that
 * wait with it.
 */
function countExcess(world: World, covered: readonly Delivered[], stored: StoredDocument | undefined): void {
  const isNewer = ({ since }: Delivered) => stored === undefined || since > stored.truth.began;
  if (!covered.some(isNewer)) world.excess += 1;
}

/** No call is made for what the stored document was read for, or after, nor for who is erased. */
function requireOpen(world: World, covered: readonly Delivered[], { stored, isErased }: Before): void {
  world.require(!isErased, "no call for who is erased");
  if (stored === undefined) return;
  for (const { messageId, since } of covered) {
    world.require(!stored.truth.messages.includes(messageId), "no call for a task that was done");
    // Two seconds for clocks that are apart, one for the gap between them, one for a date in whole seconds.
    const isAfter = stored.asOf <= world.now && since + 4_000 <= stored.truth.began;
    world.require(!isAfter, "no call for what was read since");
  }
}
