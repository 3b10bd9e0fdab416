import { randomUUID } from "node:crypto";
import type { ProviderAnswer } from "@income-events/local-stack/provider.ts";
import type { AlarmStack } from "./alarm-stack.ts";
import { endpoint } from "./receiving-scenarios.ts";
import { type AlarmScenario, keyRevoked, nothingToEnd, times } from "./scenario.ts";

const refresh = ({ functionOf }: AlarmStack, event: object = { now: true }) =>
  functionOf(/^RefreshToken/).invoke(JSON.stringify(event));
const reconcile = ({ functionOf }: AlarmStack) => functionOf(/^ReconcileUsers/).invoke("{}");

/**
 * Runs the refresher with this answer of the provider, and restores the token afterwards. Runs several times
 * because another scenario in progress may answer the first run.
 */
const refreshing = (
  entry: string,
  condition: string,
  answers: readonly (readonly [RegExp, () => ProviderAnswer])[],
  prepare: (system: AlarmStack) => Promise<unknown> = async () => undefined,
): AlarmScenario => ({
  entry,
  condition,
  make: async (system) => {
    const ends = answers.map(([matching, answer]) => system.answers(matching, answer()));
    await prepare(system);
    return async () => {
      for (const end of ends) end();
      await system.setToken(7_200);
    };
  },
  goOn: refresh,
});

export const tokenScenarios: readonly AlarmScenario[] = [
  refreshing("token-at-risk", "the provider answers a refresh with 401", [[/refresh/, () => 401]]),
  refreshing("token-missing", "no token is set", [], ({ stack, output }) =>
    stack.setSecret(output("TokenSecretArn"), "{}"),
  ),
];

export const refreshFailing: AlarmScenario = {
  entry: "token-refresh-failing",
  condition: "the provider answers refreshes with 500, in two runs",
  isAwaitedLater: true,
  isLong: true,
  make: async () => nothingToEnd,
  goOn: async (system) => {
    const end = system.answers(/refresh/, 500);
    await refresh(system);
    end();
  },
};

export const providerDown: AlarmScenario = {
  entry: "provider-down",
  condition: "the provider answers every call for data with 500",
  make: async ({ send, answers }) => {
    const end = answers(/\/income/, 500);
    await times(8, () => send("endpoints", endpoint()));
    return end;
  },
};

export const upkeepScenarios: readonly AlarmScenario[] = [
  {
    entry: "registration-failing",
    condition: "the provider answers a registration with 500, and both of its retries",
    make: async ({ functionOf, answers }) => {
      const end = answers(/^PUT /, 500);
      await times(3, () => functionOf(/^RegisterWebhooks/).invoke("{}"));
      return end;
    },
  },
  {
    entry: "webhooks-missed",
    condition: "the provider lists 5 users that no webhook announced",
    make: async ({ answers }) => {
      const data = Array.from({ length: 5 }, () => ({
        id: randomUUID(),
        created_at: "2026-01-01T00:00:00Z",
      }));
      return answers(/users(\?|$)/, { json: { data, next: null } });
    },
    goOn: reconcile,
  },
  {
    entry: "reconciliation-incomplete",
    condition: "the provider answers the list of users with 400",
    make: async ({ answers }) => answers(/users(\?|$)/, 400),
    goOn: reconcile,
  },
  {
    entry: "reconciliation-failing",
    condition: "the function that compares the lists may use the table's key no more",
    isAwaitedLater: true,
    isLong: true,
    make: async ({ meets }) => meets(/^ReconcileUsers/, ["dynamodb:GetItem"], keyRevoked),
    goOn: reconcile,
  },
  {
    entry: "deletions-held",
    condition: "the provider lists a user, and none of the user's 3 accounts any more",
    isAfterOthers: true,
    make: async ({ send, answers }) => {
      const id = randomUUID();
      await send("users", { action: "create_user", id });
      await times(3, () =>
        send("accounts", { action: "connect_account", account_id: randomUUID(), user_id: id }),
      );
      return answers(/users(\?|$)/, {
        json: { data: [{ id, created_at: "2026-01-01T00:00:00Z" }], next: null },
      });
    },
    goOn: reconcile,
  },
];
