import { randomUUID } from "node:crypto";
import {
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { writeDeadline } from "../../domain/readiness/stored-readiness.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { fifoOrder } from "../scenario/clients.ts";
import type { ScriptedStack } from "../support/scripted-stack.ts";
import { signedFetch } from "../support/signed-fetch.ts";
import { account } from "./receiving-scenarios.ts";
import { type Condition, type Conditions, keyRevoked, outOfOrder, times } from "./scenario.ts";

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
  make: async (system, ends) => {
    ends.defer(system.meets(functionId, ["sqs:ReceiveMessage"], outOfOrder));
    await sendUnreadable(system, queue);
  },
});

const relayCalls = ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"];
const allReads = [...relayCalls, "dynamodb:Query", "dynamodb:GetItem"];

/** A change that the relay handles for as long as it may. */
const relayHangs: Pick<Condition, "isAwaitedLater" | "make"> = {
  isAwaitedLater: true,
  make: async ({ send, meets }, ends) => {
    ends.defer(meets(/^RelayChanges/, relayCalls, "hang"));
    await send("accounts", account("create_account"));
  },
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

export const queueScenarios = {
  "fetching-dead-letters": unreadable("Fetch", "task of the fetch queue"),
  "erasure-dead-letters": unreadable("Erase", "task of the queue of erasures"),
  "deadline-dead-letters": unreadable("Deadlines", "message of the queue of deadlines"),
  "fetching-late": stalled(/^FetchData/, "Fetch", "nobody takes tasks from the fetch queue"),
  "erasure-late": stalled(/^EraseSubjects/, "Erase", "nobody takes tasks from the queue of erasures"),
  "deadlines-behind": {
    condition: "many accounts are not ready",
    make: async ({ sqs, output, meets }, ends) => {
      const QueueUrl = output("DeadlinesQueueUrl");
      // Failed messages stay invisible for a while, as messages that are not due.
      ends.defer(meets(/^ReadinessDeadlines/, ["dynamodb:BatchGetItem"], outOfOrder));
      const deadline = { subject: { kind: "account", id: randomUUID() }, since: Date.now() } as const;
      const MessageBody = writeDeadline(deadline);
      await times(12, () => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody })));
    },
  },
  /** Leaves tasks unprocessed: sixty for each call per minute that the rate allows. */
  "fetching-behind": {
    isAfterOthers: true,
    condition: "more calls wait than the provider's rate lets through in an hour",
    make: async ({ sqs, output, meets, stack }, ends) => {
      const QueueUrl = output("FetchQueueUrl");
      ends.defer(meets(/^FetchData/, ["sqs:ReceiveMessage"], outOfOrder));
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
  "subscriber-dead-letters": {
    condition: "a reader receives a message again and again, and never deletes it",
    make: ({ send }) => send("accounts", account("create_account")),
    goOn: async ({ sqs, output }) => {
      const QueueUrl = output("SubscriberReaderQueueUrl");
      await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 }));
    },
  },
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
    make: async ({ meets }, ends) => ends.defer(meets(/^RelayChanges/, relayCalls, keyRevoked)),
    goOn: ({ send }) => send("accounts", account("create_account")),
  },
  "relay-stopped": {
    isAfterOthers: true,
    condition: "webhooks are stored, and the relay may no longer read the stream",
    isLong: true,
    make: async ({ meets }, ends) =>
      ends.defer(meets(/^RelayChanges/, ["dynamodb:GetShardIterator", "dynamodb:GetRecords"], keyRevoked)),
    goOn: ({ send }) => send("accounts", account("create_account")),
  },
  "archiving-failing": {
    condition: "the archive's bucket refuses dead letters, in two runs",
    isAwaitedLater: true,
    isLong: true,
    make: async ({ meets }, ends) => ends.defer(meets(/^ArchiveLetters/, ["s3:PutObject"], outOfOrder)),
    goOn: ({ functionOf }) => functionOf(/^ArchiveLetters/).invoke("{}"),
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
    make: async ({ sqs, output, meets }, ends) => {
      ends.defer(meets(/^EraseSubjects/, allReads, keyRevoked));
      const MessageBody = writeEraseTask(eraseTask({ kind: "user", id: randomUUID() }, "operator"));
      await sqs.send(new SendMessageCommand({ QueueUrl: output("EraseQueueUrl"), MessageBody }));
    },
  },
  "reads-failing": {
    condition: "the function that subscribers read from may use the table's key no more",
    make: async (system, ends) => {
      ends.defer(system.meets(/^ReadDocuments/, allReads, keyRevoked));
      await times(3, () => readAsLimited(system, "v1/company-accounts/somebody", 503));
    },
  },
  "reads-refused": {
    condition: "a subscriber reads what its filter does not let through",
    make: (system) => times(20, () => readAsLimited(system, "v1/users/somebody", 403)),
  },
} satisfies Conditions;
