import type { StreamSourcePlan } from "@income-events/local-stack/assembly/plan.ts";

/** A stream event source's plan, with overrides. */
export function streamPlan(plan: Partial<StreamSourcePlan>): StreamSourcePlan {
  return {
    kind: "stream",
    logicalId: "Mapping",
    id: "id",
    function: "Work",
    enabled: true,
    batchSize: 100,
    windowSeconds: 0,
    filters: [],
    reportsItemFailures: true,
    countsEvents: false,
    table: { logicalId: "T", name: "T", arn: "T", definition: {} },
    streamArn: "arn:aws:dynamodb:eu-central-1:000000000000:table/T/stream/1",
    startingPosition: "TRIM_HORIZON",
    maximumRetryAttempts: 0,
    maximumRecordAgeSeconds: -1,
    bisects: false,
    ...plan,
  };
}
