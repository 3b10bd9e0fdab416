import { randomUUID } from "node:crypto";
import type { ScriptedStack } from "../support/scripted-stack.ts";
import { endpoint } from "./receiving-scenarios.ts";
import { type Conditions, keyRevoked, times } from "./scenario.ts";

const refresh = ({ functionOf }: ScriptedStack) =>
  functionOf(/^RefreshToken/).invoke(JSON.stringify({ now: true }));
const reconcile = ({ functionOf }: ScriptedStack) => functionOf(/^ReconcileUsers/).invoke("{}");

/** Each refreshes several times, because another scenario in progress may answer the first run. */
export const providerScenarios = {
  "token-at-risk": {
    condition: "the provider answers a refresh with 401",
    make: async ({ answers, setToken }, ends) => {
      ends.defer(() => setToken(7_200));
      ends.defer(answers(/refresh/, 401));
    },
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
  "provider-down": {
    condition: "the provider answers every call for data with 500",
    make: async ({ send, answers }, ends) => {
      ends.defer(answers(/\/income/, 500));
      await times(8, () => send("endpoints", endpoint()));
    },
  },
  "registration-failing": {
    condition: "the provider answers a registration with 500, and both of its retries",
    make: async ({ functionOf, answers }, ends) => {
      ends.defer(answers(/^PUT /, 500));
      await times(3, () => functionOf(/^RegisterWebhooks/).invoke("{}"));
    },
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
    make: async ({ answers }, ends) => ends.defer(answers(/users(\?|$)/, 400)),
    goOn: reconcile,
  },
  "reconciliation-failing": {
    condition: "the function that compares the lists may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    make: async ({ meets }, ends) => ends.defer(meets(/^ReconcileUsers/, ["dynamodb:GetItem"], keyRevoked)),
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
} satisfies Conditions;
