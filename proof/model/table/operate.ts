import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { batchStep, step, type Work } from "./process.ts";
import { endpoints } from "./provider.ts";
import type { Received } from "./queues.ts";
import { relayChanges, sendTask } from "./relay.ts";
import type { Change } from "./table.ts";
import type { Erasure, World } from "./world.ts";

/** In milliseconds: the second pass removes what functions in flight wrote during the first. */
const secondPassAfter = 15 * 60_000;

/** Erases all of a subject, in two passes. */
export function* erase(world: World, { id, body: { subject, pass } }: Received<Erasure>): Work {
  yield* step("writes a tombstone", () => world.table.tombstones.add(nameOf(subject)));
  yield* step("deletes what is stored", () => {
    world.table.erase(subject);
    for (const kept of [world.objects, world.pages]) {
      for (const key of kept.keys()) if (key.startsWith(`${subject.id}/`)) kept.delete(key);
    }
  });
  if (pass === 1) {
    yield* step("sends the second pass", () =>
      world.erasures.send({ subject, pass: 2 }, world.queueTime, secondPassAfter),
    );
  }
  yield* step("deletes an erase task", () => world.erasures.remove([id]));
}

/** Sends dead letters again, each under an id that names it. */
export function* redrive(world: World): Work {
  for (const { id, body } of world.tasks.deadLetters) {
    yield* step("redrives a dead letter", () => sendTask(world, body, id));
    yield* step("deletes a dead letter", () => {
      world.tasks.deadLetters = world.tasks.deadLetters.filter((letter) => letter.id !== id);
    });
  }
}

/** Derives again what follows from all that is stored. Of documents it sends tasks only. */
export function* repair(world: World): Work {
  const { events, documents } = world.table;
  const changes: readonly Change[] = [
    ...[...events.values()].map((after) => ({ of: "event", before: undefined, after }) as const),
    ...[...documents.values()]
      .filter(({ announced }) => announced !== undefined)
      .map((after) => ({ of: "document", after }) as const),
  ];
  const relayed = yield* relayChanges(world, changes);
  if (!relayed.some(({ hasFailed }) => hasFailed)) world.needsRepair = false;
}

/** Reconciliation asks for documents again, now and then. */
export function* reconcile(world: World, subject: Subject): Work {
  world.repairs += 1;
  const cause = `reconciliation ${world.repairs}`;
  yield* batchStep(
    "sends tasks of reconciliation",
    endpoints.map((endpoint) => () => {
      const version = world.provider.contentOf({ subject, endpoint }).version;
      sendTask(world, { task: documentTask(subject, { endpoint }, world.queueTime, { cause }), version });
    }),
  );
}
