import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { expectationOf, findLosses } from "../../scenario/compare.ts";
import { documentsIn, readDocuments } from "../../scenario/read-documents.ts";
import {
  readArchive,
  readContents,
  readDeadLetters,
  readItems,
  readTable,
  typesById,
} from "../../scenario/snapshot.ts";
import type { Truth } from "../provider/main.ts";
import { awaitedEndpoints, deadlineMillis } from "../synthesize.ts";
import type { ChaosSystem } from "../system.ts";
import type { Evidence } from "./audit-events.ts";
import { everywhereIn, findRemains, marksOf } from "./find-remains.ts";
import { findUnready } from "./find-unready.ts";
import { findWrongAttributes } from "./find-wrong-attributes.ts";
import { readMessages, readRecords, readSent } from "./read-records.ts";

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
  const { stack, access, files } = system;
  const sent = readSent(files.sent);
  const messages = readMessages(files.messages);
  const truth = await system.provider.call("truth");
  const erased = new Set([...erasedUsers, ...accountsOf(truth, erasedUsers)]);
  const table = await readTable(access, outputOf(stack, "TableName"));
  const contents = await readContents(access, outputOf(stack, "OverflowBucketName"), table);
  const lying = await Promise.all(
    deadLetterQueuesOf(stack).map(async ({ url, source }) => ({
      url,
      letters: await readDeadLetters(access, url, source),
    })),
  );
  // After the queues: letters archived meanwhile are in one of the two.
  const { deadLetters: letters } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const deadLetters = new Set([...letters, ...lying.flatMap((queue) => queue.letters)].map(({ id }) => id));
  const accepted = new Set(
    sent.flatMap(({ id, status = 0, subjects }) =>
      status >= 200 && status < 300 && !subjects.some((name) => erased.has(name)) ? [id] : [],
    ),
  );
  const announced = new Set(sent.flatMap(({ subjects }) => subjects)).difference(erased);
  const expected = expectationOf(limitedTo(truth, announced), { accepted: () => accepted }, deadLetters);
  const bySubscriber = [...Map.groupBy(messages, ({ subscriber }) => subscriber)];
  const received = bySubscriber.map(([name, own]) => [name, typesById(own.map(({ body }) => body))] as const);
  const found = { table, contents, messages: new Map(received), deadLetters: [] };
  const losses = findLosses({ ...expected, deadLetters: new Set() }, found, subscribersOf(stack));
  const drained = lying.map(({ url, letters }) => [url, letters.map(({ body }) => body)] as const);
  const sought = { ids: [...erased], marks: marksOf(truth.data, erased) };
  const remains = await findRemains(access, await everywhereIn(stack, access, new Map(drained)), sought);
  const unread = await findUnreadDocuments(system, messages, erased);
  const ids = new Set(sent.map(({ id }) => id));
  const items = await readItems(access, outputOf(stack, "TableName"));
  const { users, accounts } = truth.snapshot;
  const told = new Set(
    sent.flatMap(({ kind, id, subjects }) => (kind === "users" && accepted.has(id) ? subjects : [])),
  );
  return {
    sent,
    records: readRecords(files.records),
    messages,
    stored: new Set([...table.events].flatMap(([id, { reconciled }]) => (reconciled ? [] : [id]))),
    // Excludes tasks and messages that the load put there itself.
    deadLetters: deadLetters.intersection(ids),
    erased,
    tries,
    remains,
    losses: [...losses, ...unread],
    unready: findUnready({
      ...{ endpoints: awaitedEndpoints, deadlineMillis, messages, reads: system.reads, erased, items },
    }),
    wrongAttributes: findWrongAttributes({
      ...{ items, messages, erased },
      loans: new Map(
        users
          .filter(({ id }) => told.has(id))
          .map(({ id, metadata }) => [id, String(metadata?.loan_id)] as const),
      ),
      owners: new Map(accounts.map(({ id, userId }) => [id, userId])),
    }),
  };
}

/** Reads every announced document as each subscriber, with its own credentials. */
async function findUnreadDocuments(
  { stack }: ChaosSystem,
  messages: Evidence["messages"],
  erased: ReadonlySet<string>,
): Promise<readonly string[]> {
  const isErased = (subject: string) => subject.split("/").some((part) => erased.has(part));
  const read = await Promise.all(
    registerSubscribers(stack).map(({ name, credentials }) => {
      const bodies = messages.flatMap(({ subscriber, body }) => (subscriber === name ? [body] : []));
      return readDocuments(documentsIn(bodies), { name, credentials, region: stack.region }, isErased);
    }),
  );
  return read.flatMap(({ missing }) => missing);
}

function accountsOf({ snapshot }: Truth, users: ReadonlySet<string>): readonly string[] {
  return snapshot.accounts.filter(({ userId }) => users.has(userId)).map(({ id }) => id);
}

/** A company account's data exists at once without events: only the stage's initial endpoints are fetched. */
function isAskedFor(endpoint: string): boolean {
  return endpoint === "profile";
}

/** Reconciliation finds users without a webhook in its own time, so nothing is expected of them here. */
export function limitedTo({ snapshot, data }: Truth, announced: ReadonlySet<string>) {
  const left = {
    users: snapshot.users.filter(({ id }) => announced.has(id)),
    accounts: snapshot.accounts.filter(({ id }) => announced.has(id)),
    endpoints: snapshot.endpoints.filter(
      ({ accountId, company, endpoint }) => announced.has(accountId) && (!company || isAskedFor(endpoint)),
    ),
  };
  return {
    snapshot: () => left,
    data: (accountId: string, endpoint: string) => data.get(`${accountId}/${endpoint}`),
  };
}
