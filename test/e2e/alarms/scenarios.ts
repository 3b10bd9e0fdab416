import { randomUUID } from "node:crypto";
import {
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { writeDeadline } from "../../../domain/readiness/stored-readiness.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { fifoOrder } from "../../../proof/scenario/clients.ts";
import { signedFetch } from "../../../proof/support/signed-fetch.ts";
import type { ScriptedStack } from "../../support/scripted-stack.ts";
import { type AlarmScenario, type Condition, keyRevoked, outOfOrder, times } from "./scenario.ts";

const user = () => ({ action: "create_user", data: { id: randomUUID() } });
/** @param event the provider's event name */
const account = (event = "update_account") => ({
  event,
  account_id: randomUUID(),
  user_id: randomUUID(),
  connected: true,
});
const endpoint = () => ({ ...account("update_endpoint"), endpoint: "income", data_available: true });

/** Sends a message that no function can parse. */
async function sendUnreadable({ sqs, output }: ScriptedStack, queue: string): Promise<void> {
  const QueueUrl = output(`${queue}QueueUrl`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}", ...fifoOrder(QueueUrl) }));
}

/** A message that its function cannot parse. */
const unreadable = (queue: string, what: string): Condition => ({
  condition: `a ${what} can't be read`,
  make: (system) => sendUnreadable(system, queue),
});

/** A message that waits because its function is stopped. */
const stalled = (functionId: RegExp, queue: string, condition: string): Condition => ({
  condition,
  isAwaitedLater: true,
  meets: [functionId, ["sqs:ReceiveMessage"], outOfOrder],
  make: (system) => sendUnreadable(system, queue),
});

const relayCalls = ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"];
const allReads = [...relayCalls, "dynamodb:Query", "dynamodb:GetItem"];

/** A change that the relay handles for as long as it may. */
const relayHangs: Omit<Condition, "condition"> = {
  isAwaitedLater: true,
  meets: [/^RelayChanges/, relayCalls, "hang"],
  make: ({ send }) => send("accounts", account("create_account")),
};

/**
 * Reads from the API as the subscriber `limited`.
 * @throws if the status is not the expected one
 */
async function readAsLimited(
  { stack, output }: ScriptedStack,
  path: string,
  expected: number,
): Promise<void> {
  const credentials = registerSubscribers(stack).find(({ name }) => name === "limited")?.credentials;
  if (credentials === undefined) throw new Error("The stage has no subscriber limited");
  const { status } = await signedFetch(new URL(path, output("DocumentsUrl")), {
    region: stack.region,
    credentials,
  });
  if (status !== expected) throw new Error(`The read was answered ${status}`);
}

const sideBySide = 12;

/** Refreshes the token; several times, because another scenario in progress may answer the first run. */
const refresh = ({ functionOf }: ScriptedStack) =>
  functionOf(/^RefreshToken/).invoke(JSON.stringify({ now: true }));
const reconcile = ({ functionOf }: ScriptedStack) => functionOf(/^ReconcileUsers/).invoke("{}");

/**
 * Conditions by the alarm's runbook entry, in an order in which none creates another's condition before its
 * turn.
 */
const conditions: Readonly<Record<string, Condition>> = {
  // First, because others also stop its webhooks.
  "canary-missing": {
    condition: "the canary's queue refuses messages of the relay",
    isLong: true,
    prepare: async ({ functionOf }) => {
      const { kind } = await functionOf(/^Canary/).invoke("{}");
      if (kind !== "returned") throw new Error(`The canary ${kind} while nothing was wrong`);
    },
    make: async ({ stack, functionOf }, ends) => {
      const end = stack.gateway.intercept(async ({ action, resources }, phase) => {
        const isRefused = action.startsWith("sqs:SendMessage") && resources.some((arn) => /Canary/.test(arn));
        return phase === "before" && isRefused ? outOfOrder : undefined;
      });
      ends.defer(end);
      await functionOf(/^Canary/).invoke("{}");
    },
  },
  "subscriber-behind": {
    condition: "a user is created, and nobody reads the subscriber's queue",
    isAwaitedLater: true,
    make: ({ send }) => send("users", user()),
  },
  // Before events that fail for a while: on a busy machine those are late too.
  "events-late": {
    condition: "nobody takes events of company accounts from their queue",
    isOfSlowness: true,
    isAwaitedLater: true,
    meets: [/^CompanyAccountsStore/, ["sqs:ReceiveMessage"], outOfOrder],
    make: async ({ send }) => {
      const event = { ...account("update_company_account"), company_account_id: randomUUID() };
      await send("company-accounts", event);
    },
  },
  "fetching-dead-letters": unreadable("Fetch", "task of the fetch queue"),
  "erasure-dead-letters": unreadable("Erase", "task of the queue of erasures"),
  "deadline-dead-letters": unreadable("Deadlines", "message of the queue of deadlines"),
  "deadlines-behind": {
    condition: "many accounts are not ready",
    // Failed messages stay invisible for a while, as messages that are not due.
    meets: [/^ReadinessDeadlines/, ["dynamodb:BatchGetItem"], outOfOrder],
    make: async ({ sqs, output }) => {
      const QueueUrl = output("DeadlinesQueueUrl");
      const deadline = { subject: { kind: "account", id: randomUUID() }, since: Date.now() } as const;
      const MessageBody = writeDeadline(deadline);
      await times(12, () => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody })));
    },
  },
  // Before calls that fail for a while: their tasks wait in the same queue and keep their age.
  "fetching-late": stalled(/^FetchData/, "Fetch", "nobody takes tasks from the fetch queue"),
  "webhooks-refused": {
    condition: "20 webhooks carry a wrong secret",
    make: ({ send }) => times(20, () => send("users", user(), { "x-webhook-secret": "wrong" })),
  },
  "webhooks-failing": {
    condition: "the receiver's queue refuses 10 webhooks",
    meets: [/^UsersReceive/, ["sqs:SendMessage", "sqs:SendMessageBatch"], outOfOrder],
    make: ({ send }) => times(10, () => send("users", user())),
  },
  "functions-throttled": {
    condition: "other functions take all of the account's concurrency, and a consumer is to run ten times",
    make: async ({ stack, functionOf }) => {
      const release = stack.occupyConcurrency(1_000);
      await times(10, () => functionOf(/^EndpointsStore/).invoke('{"Records":[]}'));
      release();
    },
  },
  "webhooks-throttled": {
    condition: "120 webhooks come at once, more than the throttle lets through",
    make: ({ send }) => Promise.all(Array.from({ length: 120 }, () => send("users", user()))),
  },
  "events-dead-letters": {
    condition: "a webhook's body is no JSON",
    make: ({ send }) => send("endpoints", "no JSON"),
  },
  "provider-down": {
    condition: "the provider answers every call for data with 500",
    answers: [/\/income/, 500],
    make: ({ send }) => times(8, () => send("endpoints", endpoint())),
  },
  "subscriber-dead-letters": {
    condition: "a reader receives a message again and again, and never deletes it",
    make: ({ send }) => send("accounts", account("create_account")),
    goOn: async ({ sqs, output }) => {
      const QueueUrl = output("SubscriberReaderQueueUrl");
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 }));
    },
  },
  "reads-refused": {
    condition: "a subscriber reads what its filter does not let through",
    make: (system) => times(20, () => readAsLimited(system, "v1/users/somebody", 403)),
  },
  "reads-failing": {
    condition: "the function that subscribers read from may use the table's key no more",
    meets: [/^ReadDocuments/, allReads, keyRevoked],
    make: (system) => times(3, () => readAsLimited(system, "v1/company-accounts/somebody", 503)),
  },
  "archiving-failing": {
    condition: "the archive's bucket refuses dead letters, in two runs",
    isAwaitedLater: true,
    isLong: true,
    meets: [/^ArchiveLetters/, ["s3:PutObject"], outOfOrder],
    goOn: ({ functionOf }) => functionOf(/^ArchiveLetters/).invoke("{}"),
  },
  "token-refresh-failing": {
    condition: "the provider answers refreshes with 500, in two runs",
    isAwaitedLater: true,
    isLong: true,
    goOn: async (system) => {
      const end = system.answers(/refresh/, 500);
      await refresh(system);
      end();
    },
  },
  "events-failing": {
    condition: "a webhook comes, and the consumer may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    meets: [/^UsersStore/, ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"], keyRevoked],
    make: ({ send }) => send("users", user()),
  },
  "fetching-failing": {
    condition: "the function that calls the provider throws in each invocation",
    isAwaitedLater: true,
    isLong: true,
    goOn: ({ functionOf }) => functionOf(/^FetchData/).invoke("null"),
  },
  "erasure-failing": {
    condition: "a user is to be erased, and the eraser may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    meets: [/^EraseSubjects/, allReads, keyRevoked],
    make: async ({ sqs, output }) => {
      const MessageBody = writeEraseTask(eraseTask({ kind: "user", id: randomUUID() }, "operator"));
      await sqs.send(new SendMessageCommand({ QueueUrl: output("EraseQueueUrl"), MessageBody }));
    },
  },
  "erasure-late": stalled(/^EraseSubjects/, "Erase", "nobody takes tasks from the queue of erasures"),
  // Started together: one lasts until the relay is late, one until it gives up, one for more than a minute.
  "relay-behind": {
    condition: "the table does not answer the relay any more",
    isOfSlowness: true,
    ...relayHangs,
  },
  "undelivered-changes": { condition: "the same, until the relay's tries are used up", ...relayHangs },
  "relay-failing": {
    condition: "the relay may use the table's key no more, while changes come",
    isAwaitedLater: true,
    isLong: true,
    meets: [/^RelayChanges/, relayCalls, keyRevoked],
    goOn: ({ send }) => send("accounts", account("create_account")),
  },
  "token-at-risk": {
    condition: "the provider answers a refresh with 401",
    answers: [/refresh/, 401],
    make: async ({ setToken }, ends) => ends.defer(() => setToken(7_200)),
    goOn: refresh,
  },
  "token-missing": {
    condition: "no token is set",
    make: ({ stack, output, setToken }, ends) => {
      ends.defer(() => setToken(7_200));
      return stack.setSecret(output("TokenSecretArn"), "{}");
    },
    goOn: refresh,
  },
  "registration-failing": {
    condition: "the provider answers a registration with 500, and both of its retries",
    answers: [/^PUT /, 500],
    make: ({ functionOf }) => times(3, () => functionOf(/^RegisterWebhooks/).invoke("{}")),
  },
  "webhooks-missed": {
    condition: "the provider lists 5 users that no webhook announced",
    make: async ({ answers }, ends) => {
      const data = Array.from({ length: 5 }, () => ({
        id: randomUUID(),
        created_at: "2026-01-01T00:00:00Z",
      }));
      ends.defer(answers(/users(\?|$)/, { json: { data, next: null } }));
    },
    goOn: reconcile,
  },
  "reconciliation-incomplete": {
    condition: "the provider answers the list of users with 400",
    answers: [/users(\?|$)/, 400],
    goOn: reconcile,
  },
  "reconciliation-failing": {
    condition: "the function that compares the lists may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    meets: [/^ReconcileUsers/, ["dynamodb:GetItem"], keyRevoked],
    goOn: reconcile,
  },
  "deletions-held": {
    condition: "the provider lists a user, and none of the user's 3 accounts any more",
    isAfterOthers: true,
    make: async ({ send, answers }, ends) => {
      const id = randomUUID();
      await send("users", { action: "create_user", id });
      await times(3, () =>
        send("accounts", { action: "connect_account", account_id: randomUUID(), user_id: id }),
      );
      const data = [{ id, created_at: "2026-01-01T00:00:00Z" }];
      ends.defer(answers(/users(\?|$)/, { json: { data, next: null } }));
    },
    goOn: reconcile,
  },
  "relay-stopped": {
    isAfterOthers: true,
    condition: "webhooks are stored, and the relay may no longer read the stream",
    isLong: true,
    meets: [/^RelayChanges/, ["dynamodb:GetShardIterator", "dynamodb:GetRecords"], keyRevoked],
    goOn: ({ send }) => send("accounts", account("create_account")),
  },
  /** Leaves tasks unprocessed: sixty for each call per minute that the rate allows. */
  "fetching-behind": {
    isAfterOthers: true,
    condition: "more calls wait than the provider's rate lets through in an hour",
    meets: [/^FetchData/, ["sqs:ReceiveMessage"], outOfOrder],
    make: async ({ sqs, output, stack }, ends) => {
      const QueueUrl = output("FetchQueueUrl");
      ends.defer(async () => void (await sqs.send(new PurgeQueueCommand({ QueueUrl }))));
      const alarm = stack.alarmPlans.find(({ description }) => description.includes("#fetching-behind"));
      const sendBatch = () => {
        const entry = (index: number) => ({ Id: `${index}`, MessageBody: "{}", ...fifoOrder(QueueUrl) });
        const Entries = Array.from({ length: 10 }, (_, index) => entry(index));
        return sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      };
      // In parallel: this stage's queue keeps a message for two minutes.
      await times(Math.ceil((alarm?.threshold ?? 0) / (10 * sideBySide)), () =>
        Promise.all(Array.from({ length: sideBySide }, sendBatch)),
      );
    },
  },
  "nothing-received": {
    isAfterOthers: true,
    condition: "a webhook comes, and then no other for nothingReceivedHours",
    isLong: true,
    prepare: ({ send }) => send("users", user()),
  },
};

export const scenarios: readonly AlarmScenario[] = Object.entries(conditions).map(([entry, condition]) => ({
  entry,
  ...condition,
}));
