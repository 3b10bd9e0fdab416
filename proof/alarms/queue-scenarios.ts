import { randomUUID } from "node:crypto";
import {
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { signedFetch } from "@income-events/local-stack/api/signed-fetch.ts";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { writeDeadline } from "../../domain/readiness/stored-readiness.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { fifoOrder } from "../scenario/clients.ts";
import type { AlarmStack } from "./alarm-stack.ts";
import { account } from "./receiving-scenarios.ts";
import { type AlarmScenario, keyRevoked, nothingToEnd, outOfOrder, times } from "./scenario.ts";

/** Sends a message that no function can parse. */
async function sendUnreadable({ sqs, output }: AlarmStack, queue: string): Promise<void> {
  const QueueUrl = output(`${queue}QueueUrl`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}", ...fifoOrder(QueueUrl) }));
}

/** Scenario of a message that its function cannot parse. */
const unreadable = (entry: string, queue: string, what: string): AlarmScenario => ({
  entry,
  condition: `a ${what} can't be read`,
  make: async (system) => {
    await sendUnreadable(system, queue);
    return nothingToEnd;
  },
});

export const deadLetterScenarios: readonly AlarmScenario[] = [
  unreadable("fetching-dead-letters", "Fetch", "task of the fetch queue"),
  unreadable("erasure-dead-letters", "Erase", "task of the queue of erasures"),
  unreadable("deadline-dead-letters", "Deadlines", "message of the queue of deadlines"),
];

export const deadlinesBehind: AlarmScenario = {
  entry: "deadlines-behind",
  condition: "many accounts are not ready",
  make: async ({ sqs, output, meets }) => {
    const QueueUrl = output("DeadlinesQueueUrl");
    // Failed messages stay invisible for a while, as messages that are not due.
    const end = meets(/^ReadinessDeadlines/, ["dynamodb:BatchGetItem"], outOfOrder);
    const deadline = { subject: { kind: "account", id: randomUUID() }, since: Date.now() } as const;
    await times(12, () =>
      sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: writeDeadline(deadline) })),
    );
    return end;
  },
};

/** Scenario of a message that waits because its function is stopped. */
const stalled = (entry: string, functionId: RegExp, queue: string, condition: string): AlarmScenario => ({
  entry,
  condition,
  isAwaitedLater: true,
  make: async (system) => {
    const end = system.meets(functionId, ["sqs:ReceiveMessage"], outOfOrder);
    await sendUnreadable(system, queue);
    return end;
  },
});

export const fetchingLate = stalled(
  "fetching-late",
  /^FetchData/,
  "Fetch",
  "nobody takes tasks from the fetch queue",
);

export const erasureLate = stalled(
  "erasure-late",
  /^EraseSubjects/,
  "Erase",
  "nobody takes tasks from the queue of erasures",
);

const sideBySide = 12;

/** Leaves tasks unprocessed: sixty for each call per minute that the rate allows. */
export const fetchingBehind: AlarmScenario = {
  entry: "fetching-behind",
  isAfterOthers: true,
  condition: "more calls wait than the provider's rate lets through in an hour",
  make: async ({ sqs, output, meets, stack }) => {
    const QueueUrl = output("FetchQueueUrl");
    const end = meets(/^FetchData/, ["sqs:ReceiveMessage"], outOfOrder);
    const limit =
      stack.alarmPlans.find(({ description }) => description.includes("#fetching-behind"))?.threshold ?? 0;
    const entry = (index: number) => ({ Id: String(index), MessageBody: "{}", ...fifoOrder(QueueUrl) });
    const sendBatch = () => {
      const Entries = Array.from({ length: 10 }, (_, index) => entry(index));
      return sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    };
    // In parallel: this stage's queue keeps a message for two minutes.
    await times(Math.ceil(limit / (10 * sideBySide)), () =>
      Promise.all(Array.from({ length: sideBySide }, sendBatch)),
    );
    return async () => {
      await sqs.send(new PurgeQueueCommand({ QueueUrl }));
      end();
    };
  },
};

export const subscriberDeadLetters: AlarmScenario = {
  entry: "subscriber-dead-letters",
  condition: "a reader receives a message again and again, and never deletes it",
  make: async ({ send }) => {
    await send("accounts", account("create_account"));
    return nothingToEnd;
  },
  goOn: async ({ sqs, output }) => {
    const QueueUrl = output("SubscriberReaderQueueUrl");
    await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 }));
  },
};

const relayCalls = ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"];

/** Started together: one lasts until the relay is late, one until it gives up, one for more than a minute. */
export const relayScenarios: readonly AlarmScenario[] = [
  {
    entry: "relay-behind",
    condition: "the table does not answer the relay any more",
    isOfSlowness: true,
    isAwaitedLater: true,
    make: async ({ send, meets }) => {
      const end = meets(/^RelayChanges/, relayCalls, "hang");
      await send("accounts", account("create_account"));
      return end;
    },
  },
  {
    entry: "undelivered-changes",
    condition: "the same, until the relay's tries are used up",
    isAwaitedLater: true,
    make: async ({ send, meets }) => {
      const end = meets(/^RelayChanges/, relayCalls, "hang");
      await send("accounts", account("create_account"));
      return end;
    },
  },
  {
    entry: "relay-failing",
    condition: "the relay may use the table's key no more, while changes come",
    isAwaitedLater: true,
    isLong: true,
    make: async ({ meets }) => meets(/^RelayChanges/, relayCalls, keyRevoked),
    goOn: ({ send }) => send("accounts", account("create_account")),
  },
];

export const archivingFailing: AlarmScenario = {
  entry: "archiving-failing",
  condition: "the archive's bucket refuses dead letters, in two runs",
  isAwaitedLater: true,
  isLong: true,
  make: async ({ meets }) => meets(/^ArchiveLetters/, ["s3:PutObject"], outOfOrder),
  goOn: ({ functionOf }) => functionOf(/^ArchiveLetters/).invoke("{}"),
};

export const fetchingFailing: AlarmScenario = {
  entry: "fetching-failing",
  condition: "the function that calls the provider throws in each invocation",
  isAwaitedLater: true,
  isLong: true,
  make: async () => nothingToEnd,
  goOn: ({ functionOf }) => functionOf(/^FetchData/).invoke("null"),
};

export const erasureFailing: AlarmScenario = {
  entry: "erasure-failing",
  condition: "a user is to be erased, and the eraser may use the table's key no more",
  isAwaitedLater: true,
  isLong: true,
  make: async ({ sqs, output, meets }) => {
    const end = meets(/^EraseSubjects/, [...relayCalls, "dynamodb:Query", "dynamodb:GetItem"], keyRevoked);
    const MessageBody = writeEraseTask(eraseTask({ kind: "user", id: randomUUID() }, "operator"));
    await sqs.send(new SendMessageCommand({ QueueUrl: output("EraseQueueUrl"), MessageBody }));
    return end;
  },
};

/**
 * Reads from the API as the subscriber `limited`.
 * @throws if the status is not the expected one
 */
async function readAsLimited({ stack, output }: AlarmStack, path: string, expected: number): Promise<void> {
  const credentials = registerSubscribers(stack).find(({ name }) => name === "limited")?.credentials;
  if (credentials === undefined) throw new Error("The stage has no subscriber limited");
  const { status } = await signedFetch(new URL(path, output("DocumentsUrl")), {
    region: stack.region,
    credentials,
  });
  if (status !== expected) throw new Error(`The read was answered ${status}`);
}

export const readsFailing: AlarmScenario = {
  entry: "reads-failing",
  condition: "the function that subscribers read from may use the table's key no more",
  make: async (system) => {
    const calls = [...relayCalls, "dynamodb:GetItem", "dynamodb:Query"];
    const end = system.meets(/^ReadDocuments/, calls, keyRevoked);
    await times(3, () => readAsLimited(system, "v1/company-accounts/somebody", 503));
    return end;
  },
};

export const readsRefused: AlarmScenario = {
  entry: "reads-refused",
  condition: "a subscriber reads what its filter does not let through",
  make: async (system) => {
    await times(20, () => readAsLimited(system, "v1/users/somebody", 403));
    return nothingToEnd;
  },
};
