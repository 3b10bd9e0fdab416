import type { Alarms } from "../alarms/alarms.ts";
import type { Gateway } from "../gateway/types.ts";
import type { AccountConcurrency } from "../lambda/account-concurrency.ts";
import type { Delay } from "../lambda/delay.ts";
import type { StackOptions } from "./local-stack.ts";

/** What functions and event sources are started with. */
export type StackParts = {
  readonly gateway: Gateway;
  readonly alarms: Alarms;
  readonly account: AccountConcurrency;
  readonly options: StackOptions;
  /** Between retries. */
  readonly delay: Delay;
  /** Takes what keeps event sources, failure destinations or log files from working. */
  readonly onProblem: (message: string) => void;
  /** Closes what was started. */
  readonly cleanup: AsyncDisposableStack;
};
