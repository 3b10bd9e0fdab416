import type { LogCode } from "../../../functions/runtime/log.ts";
import type { CanaryDriver, Provocation } from "./canary-driver.ts";
import { readProvocations } from "./read-provocations.ts";
import { scheduleProvocations } from "./schedule-provocations.ts";
import { tokenProvocations } from "./token-provocations.ts";
import { webhookProvocations } from "./webhook-provocations.ts";

/** How each code comes to be logged, in order: what is logged with it is looked at afterwards. A new code says here how. */
export function provocationsOf(driver: CanaryDriver): Readonly<Record<LogCode, Provocation>> {
  return {
    ...webhookProvocations(driver),
    ...readProvocations(driver),
    ...tokenProvocations(driver),
    ...scheduleProvocations(driver),
  };
}
