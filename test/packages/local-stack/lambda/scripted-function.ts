import type { FunctionPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { HostedFunction, Outcome } from "@income-events/local-stack/lambda/hosted-function.ts";

export type ScriptedFunction = HostedFunction & { readonly events: readonly string[] };

/** A function's plan without permissions, with overrides. */
export function functionPlan(plan: Partial<FunctionPlan>): FunctionPlan {
  return {
    logicalId: "Work",
    name: "work",
    arn: "arn:aws:lambda:eu-central-1:000000000000:function:work",
    roleArn: "arn:aws:iam::000000000000:role/work",
    policies: [],
    directory: "/",
    handler: "index.handler",
    environment: {},
    timeoutSeconds: 10,
    memoryMb: 128,
    logGroupName: "/test/work",
    maximumRetryAttempts: 2,
    maximumEventAgeSeconds: 21_600,
    ...plan,
  };
}

/** A function without a process: it returns these outcomes in order, the last one repeatedly. */
export function scripted(
  answers: readonly Outcome[] | ((event: string) => Outcome),
  plan: Partial<FunctionPlan> = {},
): ScriptedFunction {
  const events: string[] = [];
  return {
    events,
    plan: functionPlan(plan),
    concurrency: 1,
    invoke: async (event) => {
      events.push(event);
      if (typeof answers === "function") return answers(event);
      return answers[Math.min(events.length, answers.length) - 1] ?? { kind: "throttled" };
    },
    serve: () => undefined,
    measureMemory: async () => [],
    killWorking: () => 0,
    kill: () => 0,
    counts: () => ({
      invocations: events.length,
      errors: 0,
      throttles: 0,
      coldStarts: 0,
      running: 0,
      peak: 1,
    }),
    initErrors: () => [],
    close: async () => {},
  };
}
