import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { expectationOf, findLosses } from "../../scenario/compare.ts";
import { readAllDocuments } from "../../scenario/read-documents.ts";
import { idOfLetter, readArchive, readItems, readTable, typesById } from "../../scenario/snapshot.ts";
import { awaitedEndpoints, deadlineMillis } from "../synthesize.ts";
import type { ChaosSystem } from "../system.ts";
import type { Evidence } from "./audit-events.ts";
import { everywhereIn, findRemains, marksOf, nameOfQueue } from "./find-remains.ts";
import { findUnready } from "./find-unready.ts";
import { findWrongAttributes } from "./find-wrong-attributes.ts";

/**
 * Reads the observers' records and the engines' final state; takes the dead letters out of their queues.
 * @param erasedUsers users whose erasure was requested
 * @param tries attempts after which the provider gives up
 */
export async function gatherEvidence(
  system: ChaosSystem,
  {
    erased: erasedUsers,
    tries,
  }: { readonly erased: ReadonlySet<string>; readonly tries?: number | undefined },
): Promise<Evidence> {
  const { stack, access, sandbox } = system;
  const { sent, messages, records } = system.records;
  const { users, accounts, endpoints } = sandbox.snapshot();
  const owned = accounts.filter(({ userId }) => erasedUsers.has(userId));
  const erased = new Set([...erasedUsers, ...owned.map(({ id }) => id)]);
  const bucket = outputOf(stack, "OverflowBucketName");
  const table = await readTable(access, outputOf(stack, "TableName"), bucket);
  const places = await everywhereIn(stack, access);
  const lying = deadLetterQueuesOf(stack).flatMap(({ url }) => places.messages[nameOfQueue(url)] ?? []);
  // After the queues: letters archived meanwhile are in one of the two.
  const { deadLetters: letters } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const deadLetters = new Set([...letters.map(({ id }) => id), ...lying.map(idOfLetter)]);
  const accepted = new Set(
    sent.flatMap(({ id, status = 0, subjects }) =>
      status >= 200 && status < 300 && !subjects.some((name) => erased.has(name)) ? [id] : [],
    ),
  );
  const announced = new Set(sent.flatMap(({ subjects }) => subjects)).difference(erased);
  // Reconciliation finds users without a webhook in its own time, so nothing is expected of them here.
  const isExpected = (id: string) => announced.has(id);
  const expected = expectationOf(sandbox, { accepted, deadLetters, isExpected });
  const bodiesOf = (name: string) =>
    messages.flatMap(({ subscriber, body }) => (subscriber === name ? [body] : []));
  const received = system.subscribers.map(({ name }) => [name, typesById(bodiesOf(name))] as const);
  const found = { table, messages: new Map(received), deadLetters: [] };
  const losses = findLosses({ ...expected, deadLetters: new Set() }, found, subscribersOf(stack));
  const documents = endpoints.map(
    ({ accountId, endpoint }) => [accountId, sandbox.data(accountId, endpoint)] as const,
  );
  const sought = { ids: [...erased], marks: marksOf(documents, erased) };
  const remains = await findRemains(access, places, sought);
  const isErased = (subject: string) => subject.split("/").some((part) => erased.has(part));
  const { missing: unread } = await readAllDocuments(system, bodiesOf, isErased);
  const ids = new Set(sent.map(({ id }) => id));
  const items = await readItems(access, outputOf(stack, "TableName"));
  const told = new Set(
    sent.flatMap(({ kind, id, subjects }) => (kind === "users" && accepted.has(id) ? subjects : [])),
  );
  const unready = findUnready({
    ...{ endpoints: awaitedEndpoints, deadlineMillis, messages, reads: system.reads, erased, items },
  });
  const wrongAttributes = findWrongAttributes({
    ...{ items, messages, erased },
    loans: new Map(
      users
        .filter(({ id }) => told.has(id))
        .map(({ id, metadata }) => [id, String(metadata?.loan_id)] as const),
    ),
    owners: new Map(accounts.map(({ id, userId }) => [id, userId])),
  });
  return {
    sent,
    records,
    messages,
    stored: new Set([...table.events].flatMap(([id, { reconciled }]) => (reconciled ? [] : [id]))),
    // Excludes tasks and messages that the load put there itself.
    deadLetters: deadLetters.intersection(ids),
    erased,
    tries,
    losses: [...losses, ...unread],
    // Any remains fail the run, even if every event of the erased is accounted for.
    findings: [...remains, ...unready, ...wrongAttributes],
  };
}
