import { roundsOf } from "../../../domain/core/batches.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { receiptsToProcess } from "../../../domain/event/receipts.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import {
  deduplicationOf,
  documentTask,
  groupOf,
  mergeTasks,
  receiptCause,
  stateTask,
} from "../../../domain/fetch/task.ts";
import { messageOfState } from "../../../domain/message/message.ts";
import { applyEvent, type State } from "../../../domain/state/state.ts";
import { batchStep, step, type Work } from "./process.ts";
import { keyOf } from "./provider.ts";
import type { Change, StoredDocument, StoredEvent } from "./table.ts";
import type { Announcement, Task, World } from "./world.ts";

/** What follows from a change: writes of a state, tasks and messages; or the erasure of what came late. */
type Consequences = {
  readonly writes: readonly { readonly event: IncomeEvent; readonly receipt: number }[];
  readonly tasks: readonly Task[];
  readonly announcements: readonly Announcement[];
  readonly erase?: Subject;
};

type Relayed = Consequences & { hasFailed: boolean };

/** Relays a batch of the stream. The first change that failed comes again, with all after it. */
export function* relay(world: World, from: number, most: number): Work {
  const relayed = yield* relayChanges(world, world.table.stream.slice(from, from + most));
  const failed = relayed.findIndex(({ hasFailed }) => hasFailed);
  yield* step("passes the checkpoint", () => {
    // Lambda takes no notice of an invocation that it took for dead.
    if (world.relayed === from) world.relayed = from + (failed === -1 ? relayed.length : failed);
  });
}

export function* relayChanges(world: World, changes: readonly Change[]): Work<readonly Relayed[]> {
  const erased = yield* step(
    "reads tombstones",
    () =>
      new Set(
        changes
          .map(subjectIn)
          .filter((subject) => world.table.isErased(subject))
          .map(nameOf),
      ),
  );
  const relayed = changes.map((change): Relayed => {
    const subject = subjectIn(change);
    const none = { writes: [], tasks: [], announcements: [], hasFailed: false };
    return erased.has(nameOf(subject)) ? { ...none, erase: subject } : { ...none, ...consequencesOf(change) };
  });
  yield* writeStates(world, relayed);
  yield* send(world, relayed);
  return relayed;
}

export function subjectIn(change: Change): Subject {
  switch (change.of) {
    case "event":
      return subjectOf(change.after.event);
    case "state":
      return change.after.subject;
    case "document":
      return change.after.name.subject;
  }
}

function consequencesOf(change: Change): Partial<Consequences> {
  switch (change.of) {
    case "event":
      return ofEvent(change.before, change.after);
    case "state":
      return ofState(change.before, change.after);
    case "document":
      return { announcements: [announcementOf(change.after)] };
  }
}

function ofEvent(
  before: StoredEvent | undefined,
  { event, receipts, version }: StoredEvent,
): Partial<Consequences> {
  const toProcess = receiptsToProcess(before?.receipts.count ?? 0, receipts.count);
  const { endpoint } = event;
  if (endpoint === undefined) return { writes: toProcess.map((receipt) => ({ event, receipt })) };
  const subject = subjectOf(event);
  const tasks = toProcess.map((receipt) => {
    const cause = { cause: receiptCause(event.id, receipt), correlationId: event.id };
    return { task: documentTask(subject, { endpoint }, receipts.since, cause), version };
  });
  const message = { id: event.id, sequence: receipts.firstAt, subject: keyOf({ subject, endpoint }) };
  return { tasks, announcements: toProcess.includes(1) ? [message] : [] };
}

function ofState(before: State | undefined, after: State): Partial<Consequences> {
  const { subject, version } = after;
  const isStarted = after.connected === true && !after.deleted && before?.connected !== true;
  const tasks = [
    ...(isStarted ? [stateTask("startFetch", subject, version, {})] : []),
    ...(after.unconfirmed ? [stateTask("fetchState", subject, version, {})] : []),
  ];
  const message = messageOfState(after, "urn:model");
  return {
    tasks: tasks.map((task) => ({ task, version: 0 })),
    announcements:
      message === undefined ? [] : [{ id: message.id, sequence: version, subject: nameOf(subject) }],
  };
}

function announcementOf({ name, announced = 0, digest, object }: StoredDocument): Announcement {
  const subject = keyOf(name);
  return { id: `${subject}.${announced}`, sequence: announced, subject, digest, object };
}

/** Writes the versions of one state in successive rounds; a write that fails stops its partition. */
function* writeStates(world: World, relayed: readonly Relayed[]): Work {
  const writes = relayed.flatMap((of) =>
    of.writes.map((write) => ({ of, ...write, key: nameOf(subjectOf(write.event)) })),
  );
  if (writes.length === 0) return;
  const states = yield* step("reads states", () => new Map(world.table.states));
  const stopped = new Set<string>();
  for (const round of roundsOf(writes, ({ key }) => key)) {
    for (const { of, key } of round) if (stopped.has(key)) of.hasFailed = true;
    const open = round.flatMap((write) => {
      const next = applyEvent(states.get(write.key), write.event, write.receipt);
      return next === undefined || stopped.has(write.key) ? [] : [{ ...write, next }];
    });
    world.requireDistinct(open.map(({ key }) => key));
    const answers = yield* batchStep(
      "writes states",
      open.map(
        ({ key, next }) =>
          () =>
            world.table.writeState(states.get(key), next),
      ),
    );
    for (const [index, { of, key, next }] of open.entries()) {
      const answer = answers[index];
      if (answer !== undefined && answer !== "none" && answer.is) states.set(key, next);
      else {
        of.hasFailed = true;
        stopped.add(key);
      }
    }
  }
}

/** Sends what leaves the table, for changes of which nothing failed so far. */
function* send(world: World, relayed: readonly Relayed[]): Work {
  const sound = relayed.filter(({ hasFailed }) => !hasFailed);
  const failedGroups = yield* sendTasks(
    world,
    sound.flatMap(({ tasks }) => tasks),
  );
  for (const of of sound) {
    if (of.tasks.some(({ task }) => failedGroups.has(groupOf(task)))) of.hasFailed = true;
  }
  const announced = sound.flatMap((of) => of.announcements.map((announcement) => ({ of, announcement })));
  const answers = yield* batchStep(
    "sends messages to subscribers",
    announced.map(
      ({ announcement }) =>
        () =>
          world.announcements.push(announcement),
    ),
  );
  for (const [index, { of }] of announced.entries()) if (answers[index] === "none") of.hasFailed = true;
  const erasing = sound.flatMap((of) => (of.erase === undefined ? [] : [{ of, subject: of.erase }]));
  const erasures = yield* batchStep(
    "sends erase tasks",
    erasing.map(
      ({ subject }) =>
        () =>
          world.erasures.send({ subject, pass: 1 }, world.queueTime),
    ),
  );
  for (const [index, { of }] of erasing.entries()) if (erasures[index] === "none") of.hasFailed = true;
}

/** @returns the groups of which a task could not be sent */
export function* sendTasks(world: World, tasks: readonly Task[]): Work<ReadonlySet<string>> {
  const merged = mergeTasks(tasks.map(({ task }) => task)).map((task): Task => {
    const same = tasks.filter((other) => groupOf(other.task) === groupOf(task));
    return { task, version: Math.max(...same.map(({ version }) => version)) };
  });
  const names = merged.flatMap(({ task }) => (task.task === "fetchDocument" ? [keyOf(task)] : []));
  world.require(new Set(names).size === names.length, "a batch sends one task for a document");
  const answers = yield* batchStep(
    "sends tasks",
    merged.map((task) => () => sendTask(world, task)),
  );
  return new Set(merged.filter((_, index) => answers[index] === "none").map(({ task }) => groupOf(task)));
}

export function sendTask(world: World, body: Task, deadLetter?: string): void {
  const ids = { group: groupOf(body.task), deduplication: deduplicationOf(body.task, deadLetter) };
  world.tasks.send(body, ids, world.queueTime);
}
