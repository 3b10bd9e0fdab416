import type { LogCode } from "../../../functions/runtime/log.ts";
import type { CanaryDriver, Provocation } from "./canary-driver.ts";
import { readProvocations } from "./read-provocations.ts";
import { scheduleProvocations } from "./schedule-provocations.ts";
import { tokenProvocations } from "./token-provocations.ts";
import { webhookProvocations } from "./webhook-provocations.ts";

/** Provocations of each code, in order; their log lines are checked afterwards. Each new code needs one. */
export function provocationsOf(driver: CanaryDriver): Readonly<Record<LogCode, Provocation>> {
  return {
    ...webhookProvocations(driver),
    ...readProvocations(driver),
    ...tokenProvocations(driver),
    ...scheduleProvocations(driver),
  };
}
