import { randomUUID } from "node:crypto";
import { type AlarmScenario, keyRevoked, nothingToEnd, outOfOrder, times } from "./scenario.ts";

const user = () => ({ action: "create_user", data: { id: randomUUID() } });
/** @param event the provider's event name */
export const account = (event = "update_account") => ({
  event,
  account_id: randomUUID(),
  user_id: randomUUID(),
  connected: true,
});
export const endpoint = () => ({ ...account("update_endpoint"), endpoint: "income", data_available: true });

/** Scenarios that need nothing else to work. */
export const receivingScenarios: readonly AlarmScenario[] = [
  {
    entry: "webhooks-refused",
    condition: "20 webhooks carry a wrong secret",
    make: async ({ send }) => {
      await times(20, () => send("users", user(), "wrong"));
      return nothingToEnd;
    },
  },
  {
    entry: "webhooks-failing",
    condition: "the receiver's queue refuses 10 webhooks",
    make: async ({ send, meets }) => {
      const end = meets(/^UsersReceive/, ["sqs:SendMessage", "sqs:SendMessageBatch"], outOfOrder);
      await times(10, () => send("users", user()));
      return end;
    },
  },
  {
    entry: "functions-throttled",
    condition: "other functions take all of the account's concurrency, and a consumer is to run ten times",
    make: async ({ stack, functionOf }) => {
      const release = stack.occupyConcurrency(1_000);
      await times(10, () => functionOf(/^EndpointsStore/).invoke('{"Records":[]}'));
      release();
      return nothingToEnd;
    },
  },
  {
    entry: "webhooks-throttled",
    condition: "120 webhooks come at once, more than the throttle lets through",
    make: async ({ send }) => {
      await Promise.all(Array.from({ length: 120 }, () => send("users", user())));
      return nothingToEnd;
    },
  },
  {
    entry: "events-dead-letters",
    condition: "a webhook's body is no JSON",
    make: async ({ send }) => {
      await send("endpoints", "no JSON");
      return nothingToEnd;
    },
  },
];

export const eventsFailing: AlarmScenario = {
  entry: "events-failing",
  condition: "a webhook comes, and the consumer may use the table's key no more",
  isAwaitedLater: true,
  isLong: true,
  make: async ({ send, meets }) => {
    const end = meets(/^UsersStore/, ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"], keyRevoked);
    await send("users", user());
    return end;
  },
};

export const eventsLate: AlarmScenario = {
  entry: "events-late",
  condition: "nobody takes events of company accounts from their queue",
  isOfSlowness: true,
  isAwaitedLater: true,
  make: async ({ send, meets }) => {
    const end = meets(/^CompanyAccountsStore/, ["sqs:ReceiveMessage"], outOfOrder);
    await send("company-accounts", {
      ...account("update_company_account"),
      company_account_id: randomUUID(),
    });
    return end;
  },
};

export const nothingReceived: AlarmScenario = {
  entry: "nothing-received",
  isAfterOthers: true,
  condition: "a webhook comes, and then no other for nothingReceivedHours",
  isLong: true,
  prepare: ({ send }) => send("users", user()),
  make: async () => nothingToEnd,
};

export const canaryMissing: AlarmScenario = {
  entry: "canary-missing",
  condition: "the canary's queue refuses messages of the relay",
  isLong: true,
  prepare: async ({ functionOf }) => {
    const { kind } = await functionOf(/^Canary/).invoke("{}");
    if (kind !== "returned") throw new Error(`The canary ${kind} while nothing was wrong`);
  },
  make: async ({ stack, functionOf }) => {
    const end = stack.gateway.intercept(async ({ action, resources }, phase) => {
      const isRefused = action.startsWith("sqs:SendMessage") && resources.some((arn) => /Canary/.test(arn));
      return phase === "before" && isRefused ? outOfOrder : undefined;
    });
    await functionOf(/^Canary/).invoke("{}");
    return end;
  },
};

export const subscriberBehind: AlarmScenario = {
  entry: "subscriber-behind",
  condition: "a user is created, and nobody reads the subscriber's queue",
  isAwaitedLater: true,
  make: async ({ send }) => {
    await send("users", user());
    return nothingToEnd;
  },
};
