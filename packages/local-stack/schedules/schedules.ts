import { randomUUID } from "node:crypto";
import type { RulePlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { AsynchronousInvoker } from "../lambda/asynchronous.ts";
import type { Delay } from "../lambda/delay.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { parseSchedule } from "./next-time.ts";

export type Schedules = ReturnType<typeof startSchedules>;

export type SchedulesOptions = {
  readonly rules: readonly RulePlan[];
  readonly functions: ReadonlyMap<string, HostedFunction>;
  readonly gateway: Pick<Gateway, "authorize" | "region" | "account">;
  readonly invoker: AsynchronousInvoker;
  readonly delay: Delay;
  readonly now: () => Date;
};

/** Node's timers overflow after 24.8 days, so long waits are split. */
const longestWait = 24 * 60 * 60_000;

/** Runs the enabled rules; each first fires after one full period. */
export function startSchedules(options: SchedulesOptions) {
  const closing = new AbortController();
  const { signal } = closing;

  const fire = async (rule: RulePlan): Promise<void> => {
    await Promise.all(rule.targets.map((target) => fireTarget(rule, target, options)));
  };
  const run = async (rule: RulePlan): Promise<void> => {
    const nextTime = parseSchedule(rule.expression);
    for (let next = nextTime(options.now()); !signal.aborted; ) {
      const left = next.getTime() - options.now().getTime();
      if (left > 0) await options.delay(Math.min(left, longestWait), signal);
      else {
        void fire(rule);
        next = nextTime(next);
      }
    }
  };
  const running = options.rules.filter(({ enabled }) => enabled).map(run);
  return {
    /** Names of the rules, including disabled ones. */
    names: options.rules.map(({ name }) => name),
    /**
     * Fires a rule now, by its name or logical id; resolves when its functions have finished, retries included.
     * @throws Error for an unknown rule
     */
    fire: async (wanted: string): Promise<void> => {
      const rule = options.rules.find(({ name, logicalId }) => name === wanted || logicalId === wanted);
      if (rule !== undefined) return fire(rule);
      const names = options.rules.map(({ name }) => name).join(", ");
      throw new Error(`The stack has no rule ${wanted}. Its rules: ${names || "none"}`);
    },
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.all(running);
    },
  };
}

async function fireTarget(
  rule: RulePlan,
  { function: functionId, input }: RulePlan["targets"][number],
  { functions, gateway, invoker, now }: SchedulesOptions,
): Promise<void> {
  const target = functions.get(functionId);
  const context = { "aws:SourceArn": rule.arn, "aws:SourceAccount": gateway.account };
  if (target === undefined) return;
  const { arn } = target.plan;
  // A denial is recorded by the gateway.
  if (!gateway.authorize("events.amazonaws.com", "lambda:InvokeFunction", arn, context).allowed) return;
  await invoker.invoke(target, input ?? JSON.stringify(scheduledEvent(rule, gateway, now())));
}

/** Source: EventBridge user guide, "Scheduled event". */
function scheduledEvent(rule: RulePlan, { account, region }: SchedulesOptions["gateway"], time: Date) {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Scheduled Event",
    source: "aws.events",
    account,
    time: time.toISOString().replace(/\.\d+/, ""),
    region,
    resources: [rule.arn],
    detail: {},
  };
}
