import compressed from "../../../stages/compressed.json" with { type: "json" };
import type { ScriptedStack } from "../../support/scripted-stack.ts";

/** A condition that raises an alarm. */
export type Condition = {
  /** Description of the condition. */
  readonly condition: string;
  /** The alarm takes a while: other scenarios run meanwhile. */
  readonly isAwaitedLater?: boolean;
  /** Starts when all earlier scenarios have ended. */
  readonly isAfterOthers?: boolean;
  /** The condition must last more than a minute. */
  readonly isLong?: boolean;
  /**
   * The alarm announces slowness, which a busy machine has too for a while: the scenario waits until that is
   * over.
   */
  readonly isOfSlowness?: boolean;
  /** Removes what other scenarios left behind. */
  readonly prepare?: (system: ScriptedStack) => Promise<unknown>;
  /** A fault of a function's calls, and an answer of the provider, for as long as the scenario runs. */
  readonly meets?: Parameters<ScriptedStack["meets"]>;
  readonly answers?: Parameters<ScriptedStack["answers"]>;
  /** Creates the condition, and adds what ends it to `ends`. */
  readonly make?: (system: ScriptedStack, ends: AsyncDisposableStack) => Promise<unknown>;
  /** Renews the condition at each check of the alarm. */
  readonly goOn?: (system: ScriptedStack) => Promise<unknown>;
};

/** A condition with the alarm's runbook entry. */
export type AlarmScenario = Condition & { readonly entry: string };

/** Error of a service that is out of order. */
export const outOfOrder = { status: 400, errorType: "AccessDenied", message: "Out of order." };

/** DynamoDB's error for a role that may no longer use the table's key. */
export const keyRevoked = {
  status: 400,
  errorType: "AccessDeniedException",
  message:
    "The role is not authorized to perform: kms:Decrypt on the resource associated with this ciphertext",
};

/** Repeats an action, one at a time. */
export async function times(count: number, act: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 1) await act();
}

/**
 * Settings of the stage `compressed`, with days of nine seconds and low limits, so that hours of an alarm
 * take seconds. Limits that alarms derive from time-outs and rates follow.
 */
export const alarmSettings = {
  provider: {
    ...compressed.provider,
    paths: { ...compressed.provider.paths, userAccounts: "/api/v0.4/users/{user_id}/accounts" },
    requestsPerMinute: 60,
  },
  divideDurationsBy: 10_000,
  accountConcurrency: 200,
  subscribers: [
    { name: "reader", retentionDays: 1 },
    {
      name: "limited",
      retentionDays: 1,
      types: ["company-account.deleted"],
      principals: ["arn:aws:iam::000000000000:role/limited"],
    },
  ],
  webhooks: { throttle: { requestsPerSecond: 1, burst: 50 } },
  functions: {
    receive: { reservedConcurrency: 1 },
    store: { timeoutSeconds: 5 },
    fetch: { timeoutSeconds: 10 },
    relay: { timeoutSeconds: 4 },
    erase: { timeoutSeconds: 5 },
    archive: { timeoutSeconds: 10 },
  },
  relay: { retryAttempts: 2 },
  fetch: { maxConcurrency: 2, longestOutageHours: 240 },
  readiness: { endpoints: ["income"] },
  reconcile: { everyHours: 1, maxDeletions: { percent: 5, atLeast: 2 } },
  archive: { beforeEndHours: 336 },
  canary: { withinSeconds: 15 },
  alarms: {
    nothingReceivedHours: 1,
    refusedPerHour: 20,
    reconciliationDrift: 3,
    emails: ["on-call@example.com"],
  },
};
