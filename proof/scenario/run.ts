import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { problemsOf, watchForProblems } from "@income-events/local-stack/problems.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import { archiveDeadLetters, readArchive } from "./archive-dead-letters.ts";
import { type Account, poster, sendBadInput } from "./bad-input.ts";
import { type Found, findLosses } from "./compare.ts";
import { createErasable, type Erased, eraseUser, findRemainsOf, sendLargeBodiesOf } from "./erasure.ts";
import { type Expectation, identityOf } from "./expectation.ts";
import { fifoOrder } from "./fifo-order.ts";
import { type Kills, killEachOnce } from "./kills.ts";
import { refuseEachOnce } from "./parking.ts";
import { type DocumentsRead, documentsIn, readDocuments } from "./read-documents.ts";
import { readBodies, readObjects, readTable, typesById } from "./snapshot.ts";
import type { Traffic } from "./traffic.ts";

/** What a scenario found, and what is missing or wrong in it. */
export type ScenarioResult = {
  readonly found: Found;
  readonly documents: DocumentsRead;
  readonly kills: number;
  readonly losses: readonly string[];
};

/** Neither events nor tasks, by the output that names their queue: each must end in that queue's dead letters. */
const unreadableTasks = {
  FetchQueueUrl: '{"schemaVersion":0}',
  EraseQueueUrl: '{"schemaVersion":-1}',
  ChecksQueueUrl: '{"schemaVersion":-2}',
};
/** Functions that send to subscribers. */
const notifiesSubscribers = /^(?:Relay|Erase)/;
const failuresOfProvider = 5;
/** More than there are first calls for company accounts: some call is refused with the secret read again, too. */
const refusedCalls = 10;
const companyAccountsPerScenario = 3;
/** Users that no webhook announces: reconciliation must find them. */
const maxUnannouncedUsers = 2;
/** Milliseconds that the queues may take to empty: a killed function's messages come back after their visibility. */
const patience = 900_000;

export type ScenarioLoad = {
  /** The headers that a webhook must carry. */
  readonly secret: Readonly<Record<string, string>>;
  readonly users: number;
  readonly progress: Progress;
};

/**
 * Lets users connect their accounts while the provider's bad day goes on: duplicates, late repeats, large and
 * unreadable bodies, wrong secrets, lost webhooks, a provider that answers 503 and 401, each subscriber's queue gone
 * for one sending of each sender, and each function killed once while it works. Then counts, in the engines, what must
 * be there, and lets each subscriber read every document that was announced to it.
 * @throws as soon as something is refused by a permission or can't be imported: that does not fix itself
 */
export async function runScenario(
  system: System,
  traffic: Traffic,
  load: ScenarioLoad,
): Promise<ScenarioResult> {
  const { secret, progress } = load;
  const { sandbox, stack } = system;
  const kills = killEachOnce(
    stack.gateway,
    stack.functions.map((target) => ({ principal: target.name, kill: () => target.killWorking() })),
  );
  const subscribers = subscribersOf(stack);
  const senders = stack.functions.filter(({ logicalId }) => notifiesSubscribers.test(logicalId));
  const refusals = refuseEachOnce(
    stack.gateway,
    senders.map(({ name }) => name),
    subscribers,
  );
  const watch = watchForProblems(stack, patience);
  try {
    const { poison, erased } = await watch.during(play(system, kills, load));
    const deadLetters = new Set([...poison, ...Object.values(unreadableTasks)]);
    const expected = withoutErased(expectationOf(sandbox, traffic, deadLetters), traffic, erased);
    progress("Erasing a user, and comparing with the provider's list, for users whose webhooks were lost");
    const meanwhile = () => invokeUntilHealed(stack, kills, ["ReconcileFunctionName"]);
    await watch.during(eraseUser(system, erased, { secret, patience, meanwhile }));
    progress("Archiving again, where no dead letter is near its end");
    await invokeUntilHealed(stack, kills, ["ArchiveFunctionName"]);
    progress("Counting in the table and the queues");
    const remains = await findRemainsOf(system, erased);
    const { found, bodies } = await takeTableSnapshot(system);
    progress("Reading each document that was announced to a subscriber");
    const documents = await watch.during(readAllDocuments(system, bodies, erased));
    kills.stop();
    const unkilled = kills.notKilled().map((name) => `the function ${name} was never killed at work`);
    const unrefused = refusals.notRefused().map((sending) => `no queue refused a message of ${sending}`);
    const losses = [
      ...findLosses(expected, found, subscribers),
      ...documents.missing,
      ...remains,
      ...unkilled,
      ...unrefused,
      ...problemsOf(stack),
    ];
    return { found, documents, kills: kills.count(), losses };
  } finally {
    kills.stop();
    refusals.stop();
    watch.stop();
  }
}

type Played = {
  /** The ids of bodies that can't become events. */
  readonly poison: ReadonlySet<string>;
  /** Who is to be erased. */
  readonly erased: Erased;
};

async function play(
  { sandbox, stack, access }: System,
  kills: Kills,
  { secret, users, progress }: ScenarioLoad,
): Promise<Played> {
  // First, so that whichever run of reconciliation is the day's first one finds them.
  await sandbox.createUsers(Math.min(users, maxUnannouncedUsers), { drop: true });
  progress(`Connecting the accounts of ${users} users, while functions are killed and the provider fails`);
  sandbox.fault({ path: "^/api/v0.4/accounts/", method: "GET", status: 503, times: failuresOfProvider });
  sandbox.fault({ path: "^/api/v0.4/company-accounts/", status: 401, times: refusedCalls });

  const announced = await sandbox.createUsers(users, {
    companyAccounts: Math.min(users, companyAccountsPerScenario),
    // Data that is too large for an item.
    pictures: 1,
  });
  const erased = await createErasable({ sandbox });
  await invokeUntilHealed(stack, kills, ["RefreshFunctionName", "RegisterFunctionName"]);
  for (const [queue, task] of Object.entries(unreadableTasks)) {
    await sendTask(access, outputOf(stack, queue), task);
  }
  await sandbox.waitUntilIdle();

  progress("Sending duplicates, late repeats, large and unreadable bodies, wrong secrets");
  const { accounts, companyAccounts } = accountsOf(sandbox);
  const isAnnounced = ({ userId }: Account) => announced.users.includes(userId);
  const sent = await sendBadInput(
    poster(outputOf(stack, "WebhooksUrl")),
    { ...secret },
    { users: announced.users, accounts: accounts.filter(isAnnounced), companyAccounts },
  );
  await sendLargeBodiesOf(erased, { stack }, secret);
  progress("Waiting until every queue is empty and the stream is read");
  await Promise.all([
    waitUntilIdle({ sandbox, stack }, patience),
    // An ordinary run, which may be killed: what it has hidden then comes back while others are waited for.
    invokeUntilHealed(stack, kills, ["ArchiveFunctionName"]),
  ]);
  progress("Archiving the dead letters");
  await archiveDeadLetters(stack, access, patience);
  return { poison: new Set(sent.poison.map(identityOf)), erased };
}

/** Nothing is expected of the user who is erased in the end. */
function withoutErased(expected: Expectation, traffic: Traffic, { userId, accountIds }: Erased): Expectation {
  const own = new Set([userId, ...accountIds]);
  const accounts = [...expected.accounts].filter(([id]) => !own.has(id));
  const data = [...expected.data].filter(([name]) => !accountIds.some((id) => name.startsWith(`${id}/`)));
  return {
    ...expected,
    events: expected.events.difference(traffic.naming([...own])),
    users: expected.users.difference(own),
    accounts: new Map(accounts),
    data: new Map(data),
  };
}

/** A killed scheduled function is invoked again by its schedule; here the schedule does not wait. */
async function invokeUntilHealed(stack: LocalStack, kills: Kills, outputs: readonly string[]): Promise<void> {
  for (const output of outputs) {
    const name = outputOf(stack, output);
    const target = stack.functions.find((candidate) => candidate.name === name);
    if (target === undefined) continue;
    for (let tries = 0; tries < 3; tries += 1) {
      const outcome = await target.invoke("{}");
      if (outcome.kind === "returned" && !kills.notKilled().includes(target.name)) break;
    }
  }
}

async function sendTask(access: System["access"], QueueUrl: string, MessageBody: string): Promise<void> {
  const client = new SQSClient(access);
  try {
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
  } finally {
    client.destroy();
  }
}

function accountsOf(sandbox: Sandbox): { accounts: readonly Account[]; companyAccounts: readonly Account[] } {
  const all = sandbox.snapshot().accounts;
  return {
    accounts: all.filter(({ company }) => !company),
    companyAccounts: all.filter(({ company }) => company),
  };
}

/** @param deadLetters what can't become an event or a task: ids, or the text of what has none */
export function expectationOf(
  sandbox: Pick<Sandbox, "snapshot" | "data">,
  traffic: Pick<Traffic, "accepted">,
  deadLetters: ReadonlySet<string>,
): Expectation {
  const { users, accounts, endpoints } = sandbox.snapshot();
  const connectionsOf = (isCompany: boolean) =>
    new Map(
      accounts
        .filter(({ company, deleted }) => company === isCompany && !deleted)
        .map(({ id, connected }) => [id, { connected }] as const),
    );
  // A company account's data is all there at once; what is fetched of it are the endpoints of every account.
  const fetched = new Set(endpoints.filter(({ company }) => !company).map(({ endpoint }) => endpoint));
  const data = endpoints.filter(({ endpoint }) => fetched.has(endpoint));
  return {
    events: new Set([...traffic.accepted()].filter((id) => !deadLetters.has(id))),
    deadLetters,
    users: new Set(users.map(({ id }) => id)),
    accounts: connectionsOf(false),
    companyAccounts: connectionsOf(true),
    data: new Map(
      data.map(({ accountId, endpoint }) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)]),
    ),
  };
}

type Snapshot = {
  readonly found: Found;
  /** By subscriber: the texts of its messages, those included that its queue refused. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
};

/** Each subscriber reads its queue itself, with what it may. */
async function takeTableSnapshot({ stack, access, subscribers }: System): Promise<Snapshot> {
  const table = await readTable(access, outputOf(stack, "TableName"));
  const large = await readObjects(access, outputOf(stack, "OverflowBucketName"), table.objects);
  const contents = new Map([...table.contents, ...large]);
  const { deadLetters, parked } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const bodies = new Map<string, readonly string[]>();
  for (const { name, queueUrl, credentials } of subscribers) {
    const received = await readBodies({ ...access, credentials }, queueUrl);
    bodies.set(name, [...received, ...(parked.get(name) ?? [])]);
  }
  const messages = new Map([...bodies].map(([name, texts]) => [name, typesById(texts)]));
  return { found: { table, contents, messages, deadLetters }, bodies };
}

async function readAllDocuments(
  { stack: { region }, subscribers }: System,
  bodies: Snapshot["bodies"],
  { accountIds }: Erased,
): Promise<DocumentsRead> {
  const isErased = (subject: string) => accountIds.some((id) => subject.includes(id));
  const all = await Promise.all(
    subscribers.map(({ name, credentials }) =>
      readDocuments(documentsIn(bodies.get(name) ?? []), { name, credentials, region }, isErased),
    ),
  );
  return {
    read: all.reduce((sum, { read }) => sum + read, 0),
    missing: all.flatMap(({ missing }) => missing),
  };
}
