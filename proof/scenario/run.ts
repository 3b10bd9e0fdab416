import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Gateway } from "@income-events/local-stack/gateway/types.ts";
import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { problemsOf, watchForProblems } from "@income-events/local-stack/problems.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { clientsOf, fifoOrder } from "./clients.ts";
import { type Expectation, expectationOf, type Found, findLosses } from "./compare.ts";
import { type Erased, eraseUser, findRemainsOf } from "./erasure.ts";
import { documentsIn, readDocuments } from "./read-documents.ts";
import { readArchive, readBodies, readContents, readTable, typesById } from "./snapshot.ts";
import { identityOf, type Traffic } from "./traffic.ts";
import { sendBadInput, sendLargeOf, type Target } from "./webhooks.ts";

/** What a scenario found, and what is missing or wrong in it. */
export type ScenarioResult = {
  readonly found: Found;
  /** Versions of documents that were announced to subscribers, and read. */
  readonly documentsRead: number;
  /** Those that could not be read, in words. */
  readonly documentsMissing: readonly string[];
  readonly kills: number;
  readonly losses: readonly string[];
};

export type ScenarioLoad = {
  /** The headers that a webhook must carry. */
  readonly secret: Target["secret"];
  readonly users: number;
  readonly progress: Progress;
};

/** Neither events nor tasks, by the output that names their queue: each must end in that queue's dead letters. */
const unreadableTasks = {
  FetchQueueUrl: '{"schemaVersion":0}',
  EraseQueueUrl: '{"schemaVersion":-1}',
  ChecksQueueUrl: '{"schemaVersion":-2}',
};
const failuresOfProvider = 5;
/** More than there are first calls for company accounts: some call is refused with the secret read again, too. */
const refusedCalls = 10;
const companyAccountsPerScenario = 3;
/** Users that no webhook announces: reconciliation must find them. */
const maxUnannouncedUsers = 2;
/** Milliseconds that the queues may take to empty: a killed function's messages come back after their visibility. */
const patience = 900_000;
/** All of the 14 days that a queue keeps a message: with it every dead letter nears its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/**
 * Lets users connect their accounts while the provider's bad day goes on: duplicates, late repeats, large and
 * unreadable bodies, wrong secrets, lost webhooks, a provider that answers 503 and 401, each subscriber's queue gone
 * for one sending of each sender, and each function killed once while it works. Then counts, in the engines, what must
 * be there, and lets each subscriber read every document that was announced to it.
 * @throws as soon as something is refused by a permission or can't be imported: that does not fix itself
 */
export async function playScenario(
  system: System,
  traffic: Traffic,
  { secret, users, progress }: ScenarioLoad,
): Promise<ScenarioResult> {
  const { sandbox, stack } = system;
  const target = { url: outputOf(stack, "WebhooksUrl"), secret };
  const kills = killEachOnce(stack);
  const refusals = refuseEachOnce(stack);
  const watch = watchForProblems(stack, patience);
  try {
    const { poison, erased } = await watch.during(play(system, kills, { target, users, progress }));
    const deadLetters = new Set([...poison, ...Object.values(unreadableTasks)]);
    const expected = withoutErased(expectationOf(sandbox, traffic, deadLetters), traffic, erased);
    progress("Erasing a user, and comparing with the provider's list, for users whose webhooks were lost");
    const meanwhile = () => invokeUntilHealed(stack, kills, "ReconcileFunctionName");
    await watch.during(eraseUser(system, erased, { target, patience, meanwhile }));
    progress("Archiving again, where no dead letter is near its end");
    await invokeUntilHealed(stack, kills, "ArchiveFunctionName");
    progress("Counting in the table and the queues");
    const remains = await findRemainsOf(system, erased);
    const { found, bodies } = await takeSnapshot(system);
    progress("Reading each document that was announced to a subscriber");
    const isErased = (subject: string) => erased.accountIds.some((id) => subject.includes(id));
    const reading = system.subscribers.map((subscriber) =>
      readDocuments(
        documentsIn(bodies.get(subscriber.name) ?? []),
        { ...subscriber, region: stack.region },
        isErased,
      ),
    );
    const documents = await watch.during(Promise.all(reading));
    const documentsMissing = documents.flatMap(({ missing }) => missing);
    const losses = [
      ...findLosses(expected, found, subscribersOf(stack)),
      ...documentsMissing,
      ...remains,
      ...kills.left().map((name) => `the function ${name} was never killed at work`),
      ...refusals.left().map((sending) => `no queue refused a message of ${sending}`),
      ...problemsOf(stack),
    ];
    const documentsRead = documents.reduce((sum, { read }) => sum + read, 0);
    return { found, documentsRead, documentsMissing, kills: kills.count(), losses };
  } finally {
    kills.stop();
    refusals.stop();
    watch.stop();
  }
}

type Played = {
  /** The ids of bodies that can't become events. */
  readonly poison: ReadonlySet<string>;
  readonly erased: Erased;
};

async function play(
  { sandbox, stack, access }: System,
  kills: OncePerTarget,
  { target, users, progress }: Omit<ScenarioLoad, "secret"> & { readonly target: Target },
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
  const { users: erasable, accounts: accountIds } = await sandbox.createUsers(1, { pictures: 1 });
  const erased = { userId: erasable[0] ?? "", accountIds };
  await invokeUntilHealed(stack, kills, "RefreshFunctionName");
  await invokeUntilHealed(stack, kills, "RegisterFunctionName");
  using clients = clientsOf(access);
  for (const [output, MessageBody] of Object.entries(unreadableTasks)) {
    const QueueUrl = outputOf(stack, output);
    await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fifoOrder(QueueUrl) }));
  }
  await sandbox.waitUntilIdle();

  progress("Sending duplicates, late repeats, large and unreadable bodies, wrong secrets");
  const all = sandbox.snapshot().accounts;
  const poison = await sendBadInput(target, {
    users: announced.users,
    accounts: all.filter(({ company, userId }) => !company && announced.users.includes(userId)),
    companyAccounts: all.filter(({ company }) => company),
  });
  await sendLargeOf(target, erased.userId);
  progress("Waiting until every queue is empty and the stream is read");
  await Promise.all([
    waitUntilIdle({ sandbox, stack }, patience),
    // An ordinary run, which may be killed: what it has hidden then comes back while others are waited for.
    invokeUntilHealed(stack, kills, "ArchiveFunctionName"),
  ]);
  progress("Archiving the dead letters");
  const depths = () => Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(clients.sqs, url)));
  // What a killed run had received comes back when its visibility timeout is over.
  while ((await depths()).some((depth) => depth > 0)) {
    const outcome = await functionOf(stack, "ArchiveFunctionName").invoke(wholeRetention);
    if (outcome.kind !== "returned") throw new Error("The dead letters could not be archived");
  }
  return { poison: new Set(poison.map(identityOf)), erased };
}

/** Nothing is expected of the user who is erased in the end. */
function withoutErased(expected: Expectation, traffic: Traffic, { userId, accountIds }: Erased): Expectation {
  const own = new Set([userId, ...accountIds]);
  const data = [...expected.data].filter(([name]) => !accountIds.some((id) => name.startsWith(`${id}/`)));
  return {
    ...expected,
    events: expected.events.difference(traffic.naming([...own])),
    users: expected.users.difference(own),
    accounts: new Map([...expected.accounts].filter(([id]) => !own.has(id))),
    data: new Map(data),
  };
}

function functionOf(stack: LocalStack, output: string) {
  const name = outputOf(stack, output);
  const found = stack.functions.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`The assembly has no function ${name}`);
  return found;
}

/** A killed scheduled function is invoked again by its schedule; here the schedule does not wait. */
async function invokeUntilHealed(stack: LocalStack, kills: OncePerTarget, output: string): Promise<void> {
  const target = functionOf(stack, output);
  for (let tries = 0; tries < 3; tries += 1) {
    const outcome = await target.invoke("{}");
    if (outcome.kind === "returned" && !kills.left().includes(target.name)) break;
  }
}

type Snapshot = {
  readonly found: Found;
  /** By subscriber: the texts of its messages, those included that its queue refused. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
};

/** Each subscriber reads its queue itself, with what it may. */
async function takeSnapshot({ stack, access, subscribers }: System): Promise<Snapshot> {
  const table = await readTable(access, outputOf(stack, "TableName"));
  const contents = await readContents(access, outputOf(stack, "OverflowBucketName"), table);
  const { deadLetters, parked } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const bodies = new Map<string, readonly string[]>();
  for (const { name, queueUrl, credentials } of subscribers) {
    const received = await readBodies({ ...access, credentials }, queueUrl);
    bodies.set(name, [...received, ...(parked.get(name) ?? [])]);
  }
  const messages = new Map([...bodies].map(([name, texts]) => [name, typesById(texts)]));
  return { found: { table, contents, messages, deadLetters }, bodies };
}

/** Something that the scenario does once to each of several targets. */
type OncePerTarget = {
  /** The remaining targets. */
  readonly left: () => readonly string[];
  readonly stop: () => void;
};

/** Calls with which Lambda itself polls a function's queue or stream, in the function's role. */
const polls: ReadonlySet<string> = new Set([
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:DeleteMessageBatch",
  "sqs:GetQueueAttributes",
  "dynamodb:DescribeStream",
  "dynamodb:GetShardIterator",
  "dynamodb:GetRecords",
  "dynamodb:ListStreams",
]);

/**
 * Kills each function once while it works: right after an engine applied one of its calls, and before the function
 * learns of it. That is where a pipeline that forgets, forgets.
 */
function killEachOnce({ gateway, functions }: LocalStack): OncePerTarget & { count(): number } {
  const left = new Map(functions.map((target) => [target.name, target]));
  let count = 0;
  const stop = gateway.intercept(async ({ principal, action }, phase) => {
    const target = left.get(principal);
    if (target === undefined || phase !== "after" || polls.has(action)) return undefined;
    const killed = target.killWorking();
    // The call of a process that has ended meanwhile.
    if (killed === 0) return undefined;
    left.delete(principal);
    count += killed;
    return "drop";
  });
  return { left: () => [...left.keys()], stop, count: () => count };
}

/** Functions that send to subscribers. */
const notifiesSubscribers = /^(?:Relay|Erase)/;
const refusal = {
  status: 400,
  errorType: "AWS.SimpleQueueService.NonExistentQueue",
  message: "The specified queue does not exist (refused by the scenario).",
};

/**
 * Lets the queue of each subscriber refuse one message batch of each sender: what was in it must be parked in the
 * dead-letter queue.
 */
function refuseEachOnce(stack: LocalStack): OncePerTarget {
  const senders = stack.functions.filter(({ logicalId }) => notifiesSubscribers.test(logicalId));
  const queues = subscribersOf(stack).map(({ queueUrl }) => queueUrl.split("/").at(-1));
  const left = new Set(senders.flatMap(({ name }) => queues.map((queue) => `${name} to ${queue}`)));
  const gateway: Gateway = stack.gateway;
  const stop = gateway.intercept(async ({ principal, action, resources }, phase) => {
    if (phase !== "before" || action !== "sqs:SendMessageBatch") return undefined;
    const sendings = resources.map((arn) => `${principal} to ${arn.split(":").at(-1)}`);
    return sendings.some((sending) => left.delete(sending)) ? refusal : undefined;
  });
  return { left: () => [...left], stop };
}
