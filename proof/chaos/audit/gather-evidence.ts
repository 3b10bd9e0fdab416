import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { expectationOf, findLosses } from "../../scenario/compare.ts";
import { documentsIn, readDocuments } from "../../scenario/read-documents.ts";
import { readArchive, readContents, readDeadLetters, readItems, readTable } from "../../scenario/snapshot.ts";
import type { Truth } from "../provider/protocol.ts";
import { awaitedEndpoints } from "../synthesize.ts";
import type { ChaosSystem } from "../system.ts";
import type { Evidence } from "./audit-events.ts";
import { everywhereIn, findRemains, marksOf } from "./find-remains.ts";
import { findUnready } from "./find-unready.ts";
import { readMessages, readRecords, readSent } from "./read-records.ts";

/**
 * Reads what the observers recorded, and what stands in the engines at the end; it takes the dead letters out of their
 * queues.
 * @param erasedUsers users whose erasure was asked for @param tries after which the provider gives a webhook up
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
  // After the queues: what is archived meanwhile is in one of the two.
  const { deadLetters: letters } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const deadLetters = new Set([...letters, ...lying.flatMap((queue) => queue.letters)].map(({ id }) => id));
  const accepted = new Set(
    sent.flatMap(({ id, status = 0, subjects }) =>
      status >= 200 && status < 300 && !subjects.some((name) => erased.has(name)) ? [id] : [],
    ),
  );
  const announced = new Set(sent.flatMap(({ subjects }) => subjects)).difference(erased);
  const expected = expectationOf(limitedTo(truth, announced), { accepted: () => accepted }, deadLetters);
  const found = { table, contents, messages: receivedBy(messages), deadLetters: [] };
  const losses = findLosses({ ...expected, deadLetters: new Set() }, found, subscribersOf(stack));
  const drained = lying.map(({ url, letters }) => [url, letters.map(({ body }) => body)] as const);
  const sought = { ids: [...erased], marks: marksOf(truth.data, erased) };
  const remains = await findRemains(access, await everywhereIn(stack, access, new Map(drained)), sought);
  const unread = await findUnreadDocuments(system, messages, erased);
  const ids = new Set(sent.map(({ id }) => id));
  return {
    sent,
    records: readRecords(files.records),
    messages,
    stored: new Set([...table.events].flatMap(([id, { reconciled }]) => (reconciled ? [] : [id]))),
    // A task is no event, and neither is what the load put there itself.
    deadLetters: deadLetters.intersection(ids),
    erased,
    tries,
    remains,
    losses: [...losses, ...unread],
    unready: findUnready({
      ...{ endpoints: awaitedEndpoints, messages, reads: system.reads, erased },
      items: await readItems(access, outputOf(stack, "TableName")),
    }),
  };
}

/** Lets each subscriber read every document that was announced to it, with credentials of its own. */
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

/**
 * Of a company account all data is there at once, and no event announces it: only what the stage starts with is asked
 * for.
 */
function isAskedFor(endpoint: string): boolean {
  return endpoint === "profile";
}

/** Of whom no webhook announced, reconciliation finds out in its own time: nothing is expected of them here. */
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

/** By subscriber: the type of each message by its id. */
function receivedBy(messages: Evidence["messages"]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const bySubscriber = Map.groupBy(messages, ({ subscriber }) => subscriber);
  return new Map(
    [...bySubscriber].map(([name, lines]) => [
      name,
      new Map(
        lines.map(({ body }) => {
          const { id, type } = Object(JSON.parse(body));
          return [String(id), String(type)] as const;
        }),
      ),
    ]),
  );
}
