import { nameOf } from "../../../domain/event/subjects.ts";
import { documentTask, type FetchTask } from "../../../domain/fetch/task.ts";
import { applyProviderAnswer } from "../../../domain/state/state.ts";
import { attempt, batchStep, step, type Work } from "./process.ts";
import { endpoints, keyOf } from "./provider.ts";
import type { Received } from "./queues.ts";
import { sendTask } from "./relay.ts";
import { end, retry, type TaskMessage } from "./retry.ts";
import type { Check, World } from "./world.ts";

/** In milliseconds: when a start is checked. */
const checkAfter = 300_000;

/** Starts a fetch of data, or asks for a state. */
export function* doStateTask(world: World, message: TaskMessage): Work {
  const { task } = message.body;
  const date = yield* step("reads a state", () => world.serviceDate);
  const done = yield* attempt(task.task === "startFetch" ? start(world, task) : fetchState(world, task));
  if (done !== "none" && done.is) return yield* end(world, [message]);
  world.strikes += 1;
  yield* retry(world, message, "the provider failed", Math.max(date, message.firstReceivedAt));
}

/** @returns whether it is done. The check is sent once the start was answered, and counts from its own sending. */
function* start(world: World, { subject, cause }: FetchTask): Work<boolean> {
  if (world.table.isErased(subject)) return true;
  const versions = yield* step("starts a fetch", () => {
    if (world.provider.isDown) return undefined;
    world.provider.start(subject, world.now % 2 === 0, world.isoTime);
    return new Map(
      endpoints.map((endpoint) => {
        const name = { subject, endpoint };
        return [keyOf(name), world.provider.contentOf(name).version] as const;
      }),
    );
  });
  if (versions === undefined) return false;
  for (const [key, version] of versions) world.started.set(key, version);
  yield* step("sends a check", () =>
    world.checks.send({ subject, cause: `start ${cause}`, versions }, world.queueTime, checkAfter),
  );
  return true;
}

function* fetchState(world: World, task: FetchTask): Work<boolean> {
  const known = yield* step("reads a state", () => world.table.states.get(nameOf(task.subject)));
  if (task.task !== "fetchState" || known?.version !== task.version) return true;
  const answer = yield* step("asks for a state", () => {
    if (world.provider.isDown) return undefined;
    return { found: true, connected: world.provider.isConnected(task.subject) } as const;
  });
  if (answer === undefined) return false;
  const next = applyProviderAnswer(known, task.version, answer, { at: new Date(world.now) });
  if (next === undefined) return true;
  return yield* step("writes a state", () => world.table.writeState(known, next));
}

/** When a check is due: has the documents of a start read, unless they were since it was answered. */
export function* check(world: World, message: Received<Check>): Work {
  const { subject, cause, versions } = message.body;
  const state = yield* step("reads a state", () => world.table.states.get(nameOf(subject)));
  if (state?.connected === true && !world.table.isErased(subject)) {
    const answers = yield* batchStep(
      "sends tasks of a check",
      endpoints.map((endpoint) => () => {
        // Since the check was sent: that was after the start's answer, by SQS's clock.
        const task = documentTask(subject, { endpoint }, message.sentAt, { cause: `${cause} ${message.id}` });
        sendTask(world, { task, version: versions.get(keyOf({ subject, endpoint })) ?? 0 });
      }),
    );
    if (answers.includes("none")) return;
  }
  yield* step("deletes a check", () => world.checks.remove([message.id]));
}
