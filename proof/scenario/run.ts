import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Gateway } from "@income-events/local-stack/gateway/gateway.ts";
import { deadLetterQueuesOf, outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { problemsOf, watchForProblems } from "@income-events/local-stack/problems.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { everywhereIn, findRemains } from "../chaos/audit/find-remains.ts";
import { clientsOf, fifoOrder } from "./clients.ts";
import { expectationOf, findLosses } from "./compare.ts";
import { type Erased, eraseUser, findLost } from "./erasure.ts";
import { readAllDocuments } from "./read-documents.ts";
import { readArchive, readBodies, readTable, typesById } from "./snapshot.ts";
import { identityOf, type Traffic } from "./traffic.ts";
import {
  largeReports,
  largeReportsOf,
  lateReport,
  poison,
  sendRefused,
  sendToOtherPath,
} from "./webhooks.ts";

/** Findings of a scenario, and what is missing or wrong. */
export type ScenarioResult = Awaited<ReturnType<typeof playScenario>>;

export type ScenarioLoad = {
  readonly users: number;
  readonly progress: Progress;
};

/**
 * Neither events nor tasks, by the output that names their queue: each must end in that queue's dead letters.
 */
const unreadableTasks = {
  FetchQueueUrl: '{"schemaVersion":0}',
  EraseQueueUrl: '{"schemaVersion":-1}',
  ChecksQueueUrl: '{"schemaVersion":-2}',
};
const failuresOfProvider = 5;
/**
 * More than the first calls for company accounts, so that a call with the secret read again is refused too.
 */
const refusedCalls = 10;
const companyAccountsPerScenario = 3;
/** Accounts of which the provider reports something late. */
const maxLateAccounts = 5;
const sentByScenario = { sent_by: "scenario" };
/** Users without a webhook, whom reconciliation must find. */
const maxUnannouncedUsers = 2;
/**
 * Maximum milliseconds until the queues are empty: a killed function's messages reappear after their
 * visibility timeout.
 */
const patience = 900_000;
/** The 14 days for which a queue keeps a message: every dead letter then counts as near its end. */
const wholeRetention = JSON.stringify({ beforeEndSeconds: 14 * 86_400 });

/**
 * Connects users' accounts while everything fails once: duplicates, late repeats, large and unreadable
 * bodies, wrong secrets, lost webhooks, a provider that answers 503 and 401, each subscriber's queue refusing
 * one batch of each sender, and each function killed once while it runs. Then checks the engines' final
 * state, and reads every announced document as each subscriber.
 * @throws as soon as a permission is denied or an import fails: neither recovers by itself
 */
export async function playScenario(system: System, traffic: Traffic, { users, progress }: ScenarioLoad) {
  const { sandbox, stack } = system;
  const kills = killEachOnce(stack);
  const refusals = refuseEachOnce(stack);
  const watch = watchForProblems(stack, patience);
  try {
    const erased = await watch.during(play(system, kills, { users, progress }));
    const deadLetters = new Set([...poison().map(identityOf), ...Object.values(unreadableTasks)]);
    // Nothing is expected of the user who is erased at the end.
    const own = [erased.userId, ...erased.accountIds];
    const accepted = traffic.accepted().difference(traffic.naming(own));
    const isExpected = (id: string) => !own.includes(id);
    const expected = expectationOf(sandbox, { accepted, deadLetters, isExpected });
    progress("Erasing a user, and comparing with the provider's list, for users whose webhooks were lost");
    const meanwhile = () => invokeUntilHealed(stack, kills, "ReconcileFunctionName");
    await watch.during(eraseUser(system, erased, { patience, meanwhile }));
    progress("Archiving again, with no dead letter near its end");
    await invokeUntilHealed(stack, kills, "ArchiveFunctionName");
    progress("Counting in the table and the queues");
    const places = await everywhereIn(stack, system.access);
    const remains = await findRemains(system.access, places, { ids: own, marks: [] });
    const lost = await findLost(system, places);
    const { found, bodies } = await takeSnapshot(system);
    progress("Reading each document that was announced to a subscriber");
    const isErased = (subject: string) => erased.accountIds.some((id) => subject.includes(id));
    const reading = readAllDocuments(system, (name) => bodies.get(name) ?? [], isErased);
    const documents = await watch.during(reading);
    const losses = [
      ...findLosses(expected, found, subscribersOf(stack)),
      ...documents.missing,
      ...remains,
      ...lost,
      ...kills.left().map((name) => `the function ${name} was never killed at work`),
      ...refusals.left().map((sending) => `no queue refused a message of ${sending}`),
      ...problemsOf(stack),
    ];
    return { found, documents, kills: kills.count(), losses };
  } finally {
    kills.stop();
    refusals.stop();
    watch.stop();
  }
}

/** @returns the user to erase */
async function play(
  { sandbox, stack, access }: System,
  kills: Kills,
  { users, progress }: ScenarioLoad,
): Promise<Erased> {
  // First, so that the day's first reconciliation finds them, whichever run that is.
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
  const people = announced.accounts.map((accountId, index) => ({
    accountId,
    userId: announced.users[index] ?? "",
    companyAccountId: announced.companyAccounts[index] ?? "",
  }));
  const good = [
    ...people.slice(0, 1).flatMap(largeReports),
    ...people
      .slice(0, maxLateAccounts)
      .flatMap((person) => [
        lateReport("disconnect_account", person, sentByScenario),
        lateReport("create_account", person, sentByScenario),
      ]),
  ];
  for (const { kind, body } of good) sandbox.fireEvent(kind, body, { times: 3 });
  for (const { kind, body } of [...poison(), ...largeReportsOf(erased.userId)]) sandbox.fireEvent(kind, body);
  sendRefused(sandbox);
  await sendToOtherPath(sandbox, outputOf(stack, "WebhooksUrl"), announced.users[0] ?? "");
  progress("Waiting until every queue is empty and the stream is read");
  await Promise.all([
    waitUntilIdle({ sandbox, stack }, patience),
    // An ordinary run, which may be killed: its hidden messages reappear while other work is awaited.
    invokeUntilHealed(stack, kills, "ArchiveFunctionName"),
  ]);
  progress("Archiving the dead letters");
  const depths = () => Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(clients.sqs, url)));
  // Messages of a killed run reappear after their visibility timeout.
  while ((await depths()).some((depth) => depth > 0)) {
    const outcome = await functionOf(stack, "ArchiveFunctionName").invoke(wholeRetention);
    if (outcome.kind !== "returned") throw new Error("The dead letters could not be archived");
  }
  return erased;
}

function functionOf(stack: LocalStack, output: string) {
  const name = outputOf(stack, output);
  const found = stack.functions.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`The assembly has no function ${name}`);
  return found;
}

/** A killed scheduled function is invoked again by its schedule; here without the wait. */
async function invokeUntilHealed(stack: LocalStack, kills: Kills, output: string): Promise<void> {
  const target = functionOf(stack, output);
  for (let tries = 0; tries < 3; tries += 1) {
    const outcome = await target.invoke("{}");
    if (outcome.kind === "returned" && !kills.left().includes(target.name)) break;
  }
}

/**
 * Reads each subscriber's queue with its own credentials.
 * @returns what was found, and texts of the messages by subscriber, including those that its queue refused
 */
async function takeSnapshot({ stack, access, subscribers }: System) {
  const bucket = outputOf(stack, "OverflowBucketName");
  const table = await readTable(access, outputOf(stack, "TableName"), bucket);
  const { deadLetters, parked } = await readArchive(access, outputOf(stack, "ArchiveBucketName"));
  const bodies = new Map<string, readonly string[]>();
  for (const { name, queueUrl, credentials } of subscribers) {
    const received = await readBodies({ ...access, credentials }, queueUrl);
    bodies.set(name, [...received, ...(parked.get(name) ?? [])]);
  }
  const messages = new Map([...bodies].map(([name, texts]) => [name, typesById(texts)]));
  return { found: { table, messages, deadLetters }, bodies };
}

type Kills = ReturnType<typeof killEachOnce>;

/**
 * Kills each function once while it runs: after an engine applied one of its calls, and before the function
 * gets the answer, which is where data would be lost.
 */
function killEachOnce({ gateway, functions }: LocalStack) {
  const left = new Map(functions.map((target) => [target.name, target]));
  let count = 0;
  const stop = gateway.intercept(async ({ principal, isFromFunction }, phase) => {
    const target = left.get(principal);
    if (target === undefined || phase !== "after" || !isFromFunction) return undefined;
    const killed = target.killWorking();
    // The process had already ended.
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
 * Makes each subscriber's queue refuse one batch of each sender: its messages must be parked in the
 * dead-letter queue.
 */
function refuseEachOnce(stack: LocalStack) {
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
