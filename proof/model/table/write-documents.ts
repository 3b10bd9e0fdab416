import { outcomeOfWrite, timeBefore, type WriteAnswer } from "../../../domain/fetch/coverage.ts";
import { versionAfter } from "../../../domain/fetch/document-version.ts";
import { type Answer, batchStep, step, type Work } from "./process.ts";
import { isPaged, keyOf } from "./provider.ts";
import type { Reading } from "./reading.ts";
import { end, hide } from "./retry.ts";
import type { World } from "./world.ts";

/** Writes the documents of a batch in one request, under the condition that each still is as it was before its call. */
export function* writeReadings(world: World, readings: readonly Reading[]): Work {
  for (const reading of readings) yield* putObject(world, reading);
  world.requireDistinct(readings.map(({ name }) => keyOf(name)));
  const answers = yield* batchStep(
    "writes documents",
    readings.map((reading) => () => writeReading(world, reading)),
  );
  for (const [index, reading] of readings.entries())
    yield* conclude(world, reading, answerOf(answers[index]));
}

function answerOf(answer: Answer<boolean> | undefined): WriteAnswer {
  if (answer === undefined || answer === "none") return "unknown";
  return answer.is ? "accepted" : "refused";
}

/** Large content lies in an object of its own; its key names the call that brought it, for content may return. */
function objectOf({ name, content, plan, stored }: Reading): string | undefined {
  if (!isPaged(name) || content.digest === undefined) return undefined;
  const { announced } = versionAfter(stored, plan, content.digest);
  return [keyOf(name), announced, content.digest].join("/");
}

function* putObject(world: World, reading: Reading): Work {
  const object = objectOf(reading);
  if (object !== undefined && object !== reading.stored?.object)
    yield* step("puts an object", () => world.objects.set(object, reading.content));
}

function writeReading(world: World, reading: Reading): boolean {
  const { name, plan, stored, content, calledAt, began, fetchedAt } = reading;
  const { news, ...version } = versionAfter(stored, plan, content.digest);
  const object = objectOf(reading);
  const messages = plan.covered.map(({ messageId }) => messageId);
  const truth = { version: content.version, began, messages };
  const item = { ...version, ...(object === undefined ? {} : { object }), name, fetchedAt, truth };
  const before = world.table.documents.get(keyOf(name));
  if (!world.table.writeDocument(plan.known, item, news)) return false;
  world.require(
    plan.asOf <= calledAt + 1_000,
    "a document says of no time after its call that it was read then",
  );
  world.require(content.version >= (before?.truth.version ?? 0), "no document gets older");
  if (before?.object !== undefined && before.object !== object) world.superseded.push(before.object);
  return true;
}

/** Ends the tasks that the write covers; where it was not accepted, those that another one does. */
function* conclude(world: World, { name, plan }: Reading, answer: WriteAnswer): Work {
  const again = answer === "accepted" ? undefined : yield* readAgain(world, keyOf(name));
  const now = timeBefore(again?.date ?? 0, plan.covered);
  const outcomes = plan.covered.map((task) => ({
    task,
    outcome: outcomeOfWrite(answer, task, again?.document, now),
  }));
  yield* end(
    world,
    outcomes.flatMap(({ task, outcome }) => (outcome === "done" ? [task.message] : [])),
  );
  for (const { task, outcome } of outcomes) {
    if (outcome !== "done") yield* hide(world, task.message, outcome.hideInSeconds);
  }
  if (answer !== "accepted") world.strikes += 1;
}

function* readAgain(world: World, key: string) {
  return yield* step("reads a document again", () => ({
    document: world.table.documents.get(key),
    date: world.serviceDate,
  }));
}
