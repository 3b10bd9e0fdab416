import type { AlarmStack } from "./alarm-stack.ts";

/** A condition that raises an alarm. */
export type AlarmScenario = {
  /** The alarm's runbook entry. */
  readonly entry: string;
  /** Description of the condition, for printing. */
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
  readonly prepare?: (system: AlarmStack) => Promise<unknown>;
  /**
   * Creates the condition.
   * @returns a function that ends it
   */
  readonly make: (system: AlarmStack) => Promise<() => unknown>;
  /** Renews the condition at each check of the alarm. */
  readonly goOn?: (system: AlarmStack) => Promise<unknown>;
};

export const nothingToEnd = (): void => undefined;

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
