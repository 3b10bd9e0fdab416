import { isUnordered } from "../../../domain/event/events.ts";
import { subjectOf } from "../../../domain/event/subjects.ts";
import { receiptKey } from "../../../domain/state/last-change.ts";
import { documents, endpoints, keyOf, type Name } from "./provider.ts";
import { cleanUp, waitUntilIdle } from "./simulation.ts";
import { batch, type World } from "./world.ts";

/** @throws where a law is broken; what holds at any moment */
export function expectAlways(world: World): void {
  world.require(
    world.tasks.deadLetters.every(({ reason }) => reason !== undefined),
    "a dead letter says its reason",
  );
  world.require(world.tasks.dropped === 0, "no task is dropped by SQS");
  const [first] = world.violations;
  if (first !== undefined) throw new Error(first);
}

/** Lets everything come to rest, deletes superseded objects, and looks at the laws. @throws where one is broken */
export function comeToRest(world: World): void {
  waitUntilIdle(world);
  cleanUp(world);
  expectAtRest(world);
}

/** @throws where a law is broken; what holds when everything has come to rest */
function expectAtRest(world: World): void {
  requireStored(world);
  requireMessages(world);
  for (const name of documents) requireDocument(world, name);
  requireStates(world);
  requireErased(world);
  // A strike can cost each document of a batch its call.
  world.require(
    world.provider.reads <= world.tasks.sent + batch * world.strikes,
    "at most one call for a task and a retry",
  );
  expectAlways(world);
}

function requireStored(world: World): void {
  const { table, provider } = world;
  for (const { event, isAnswered } of provider.webhooks) {
    const isKept = table.events.has(event.id) || table.isErased(subjectOf(event));
    world.require(isAnswered && isKept, "an event that was taken is stored");
  }
  const ids = new Set(world.announcements.map(({ id }) => id));
  for (const { event, receipts, version } of table.events.values()) {
    const subject = subjectOf(event);
    if (table.isErased(subject)) continue;
    world.require(ids.has(event.id), "the message of an event is sent");
    world.require(receipts.since >= receipts.firstAt, "since is no time before the first receipt");
    const isCounted = !isUnordered(event) || receipts.count >= (world.taken.get(event.id)?.size ?? 0);
    world.require(isCounted, "each receipt of a weak event counts");
    const { endpoint } = event;
    if (endpoint === undefined) continue;
    const read = table.documents.get(keyOf({ subject, endpoint }))?.truth.version ?? -1;
    world.require(read >= version, "no document is older than the last event that announced it");
  }
}

function requireMessages(world: World): void {
  const versions = new Set(
    world.table.stream.flatMap((change) =>
      change.of === "document" ? [`${keyOf(change.after.name)}.${change.after.announced}`] : [],
    ),
  );
  const texts = new Map<string, string>();
  const names = new Map<string, string>();
  for (const message of world.announcements) {
    const text = JSON.stringify(message);
    world.require((texts.get(message.id) ?? text) === text, "a message is the same whenever it is sent");
    texts.set(message.id, text);
    const isOfDocument = documents.some((name) => message.id.startsWith(`${keyOf(name)}.`));
    if (!isOfDocument) continue;
    world.require(versions.has(message.id), "a document's message is named by what announced it");
    const place = `${message.subject} ${message.sequence}`;
    world.require((names.get(place) ?? message.id) === message.id, "a sequence is of one document");
    names.set(place, message.id);
  }
}

function requireDocument(world: World, name: Name): void {
  const { table, provider, started, announcements, objects } = world;
  const key = keyOf(name);
  if (table.isErased(name.subject)) return;
  const stored = table.documents.get(key);
  const version = started.get(key);
  if (version !== undefined && provider.isConnected(name.subject)) {
    world.require((stored?.truth.version ?? -1) >= version, "what a start brought is read");
  }
  const ofSubject = announcements.filter(({ id, subject }) => subject === key && id.startsWith(`${key}.`));
  const newest = ofSubject.reduce(
    (one, other) => (other.sequence > one.sequence ? other : one),
    ofSubject[0] ?? { sequence: -1, digest: undefined, object: undefined },
  );
  world.require(newest.digest === stored?.digest, "the newest message is of the newest document");
  world.require(
    newest.object === undefined || newest.object === stored?.object || objects.has(newest.object),
    "a message's object is there",
  );
  world.require(stored?.object === undefined || objects.has(stored.object), "a document's object is there");
}

function requireStates(world: World): void {
  const { table, provider } = world;
  for (const change of table.stream) {
    if (change.of !== "state") continue;
    world.require(change.after.version === (change.before?.version ?? 0) + 1, "versions rise by one");
  }
  for (const state of table.states.values()) {
    if (table.isErased(state.subject)) continue;
    world.require(
      state.connected === provider.isConnected(state.subject) && !state.unconfirmed,
      "a state is the truth",
    );
    const places = state.processed.map((key) => placeOf(world, key)).filter((place) => place >= 0);
    const isInOrder = places.every((place, index) => place >= (places[index - 1] ?? 0));
    world.require(isInOrder, "a state takes events in the order of the stream");
  }
}

/** Where in the stream an event's first receipt is; a later one that changed nothing may be processed again. */
function placeOf({ table }: World, key: string): number {
  return table.stream.findIndex(
    (change) => change.of === "event" && receiptKey(change.after.event, 1) === key,
  );
}

function requireErased(world: World): void {
  const { table, objects, pages } = world;
  for (const name of table.tombstones) {
    const [, id] = name.split("/");
    const rest = [...table.events.values()].some(({ event }) => event.accountId === id);
    const documentsLeft = endpoints.some((endpoint) => table.documents.has(`${id}/${endpoint}`));
    const objectsLeft = [...objects.keys(), ...pages.keys()].some((key) => key.startsWith(`${id}/`));
    world.require(!rest && !documentsLeft && !objectsLeft && !table.states.has(name), "erased stays erased");
  }
}
