import type { AlarmStack } from "./alarm-stack.ts";

/** How a condition is made that raises an alarm. */
export type AlarmScenario = {
  /** The alarm's entry in the runbook. */
  readonly entry: string;
  /** What is done, for people. */
  readonly condition: string;
  /** Its alarm comes by itself after a while: others are tripped meanwhile. */
  readonly isAwaitedLater?: boolean;
  /** It begins when all before it are over. */
  readonly isAfterOthers?: boolean;
  /** It has to be run through for more than a minute. */
  readonly isLong?: boolean;
  /**
   * Its alarm announces slowness, which a busy machine has too, for a while: the condition is made when that is over.
   */
  readonly isOfSlowness?: boolean;
  /** Ends what others left behind. */
  readonly prepare?: (system: AlarmStack) => Promise<unknown>;
  /** Makes the condition. @returns ends it */
  readonly make: (system: AlarmStack) => Promise<() => unknown>;
  /** Goes on with it, as often as the alarm is looked at. */
  readonly goOn?: (system: AlarmStack) => Promise<unknown>;
};

export const nothingToEnd = (): void => undefined;

/** Calls that fail as a service of AWS does that is out of order. */
export const outOfOrder = { status: 400, errorType: "AccessDenied", message: "Out of order." };

/** What DynamoDB answers a role that may not use the table's key any more. */
export const keyRevoked = {
  status: 400,
  errorType: "AccessDeniedException",
  message:
    "The role is not authorized to perform: kms:Decrypt on the resource associated with this ciphertext",
};

/** Does something so many times, one after the other. */
export async function times(count: number, act: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 1) await act();
}
