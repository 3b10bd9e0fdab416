import { randomUUID } from "node:crypto";
import { type Conditions, keyRevoked, outOfOrder, times } from "./scenario.ts";

const user = () => ({ action: "create_user", data: { id: randomUUID() } });
/** @param event the provider's event name */
export const account = (event = "update_account") => ({
  event,
  account_id: randomUUID(),
  user_id: randomUUID(),
  connected: true,
});
export const endpoint = () => ({ ...account("update_endpoint"), endpoint: "income", data_available: true });

export const receivingScenarios = {
  "webhooks-refused": {
    condition: "20 webhooks carry a wrong secret",
    make: ({ send }) => times(20, () => send("users", user(), { "x-webhook-secret": "wrong" })),
  },
  "webhooks-failing": {
    condition: "the receiver's queue refuses 10 webhooks",
    make: async ({ send, meets }, ends) => {
      ends.defer(meets(/^UsersReceive/, ["sqs:SendMessage", "sqs:SendMessageBatch"], outOfOrder));
      await times(10, () => send("users", user()));
    },
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
  "events-failing": {
    condition: "a webhook comes, and the consumer may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    make: async ({ send, meets }, ends) => {
      const calls = ["dynamodb:BatchGetItem", "dynamodb:BatchExecuteStatement"];
      ends.defer(meets(/^UsersStore/, calls, keyRevoked));
      await send("users", user());
    },
  },
  "events-late": {
    condition: "nobody takes events of company accounts from their queue",
    isOfSlowness: true,
    isAwaitedLater: true,
    make: async ({ send, meets }, ends) => {
      ends.defer(meets(/^CompanyAccountsStore/, ["sqs:ReceiveMessage"], outOfOrder));
      const event = { ...account("update_company_account"), company_account_id: randomUUID() };
      await send("company-accounts", event);
    },
  },
  "nothing-received": {
    isAfterOthers: true,
    condition: "a webhook comes, and then no other for nothingReceivedHours",
    isLong: true,
    prepare: ({ send }) => send("users", user()),
  },
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
} satisfies Conditions;
