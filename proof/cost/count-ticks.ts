import { startSystem } from "@income-events/local-stack/system.ts";
import { documentedStage, nameOfResource, scheduledIn } from "../../scripts/documents/stage-template.ts";
import type { Tick } from "./counts.ts";

/**
 * Runs what each schedule invokes, once before it counts, on a stack with nothing to do: for a month without events
 * costs that many times as often as the schedule says.
 */
export async function countTicks(onProgress: (step: string) => void): Promise<readonly Tick[]> {
  const system = await startSystem(
    { once: true, users: 0, stage: "local", apiPort: 0, awsPort: 0, sandboxPort: 0 },
    {},
    onProgress,
    () => undefined,
  );
  try {
    const { stack } = system;
    const ticks: Tick[] = [];
    for (const { functionId } of scheduledIn(documentedStage().resources)) {
      // Another stage, but the same constructs.
      const found = stack.functions.find(({ logicalId }) => logicalId === functionId);
      if (found === undefined) throw new Error(`the stack has no function ${functionId}`);
      await found.invoke("{}");
      const before = { calls: new Map(stack.gateway.calls()), bytes: found.logBytes() };
      const outcome = await found.invoke("{}");
      if (outcome.kind !== "returned")
        throw new Error(`${found.logicalId} failed: ${JSON.stringify(outcome)}`);
      const callsTo = (action: string) =>
        [...stack.gateway.calls()].reduce((sum, [key, count]) => {
          const isCounted = key.startsWith(`${found.name} ${action}`);
          return isCounted ? sum + count - (before.calls.get(key) ?? 0) : sum;
        }, 0);
      ticks.push({
        function: nameOfResource(functionId),
        cpuMicros: outcome.usage?.cpuMicros ?? 0,
        memoryMb: found.memoryMb,
        sqsRequests: callsTo("sqs:"),
        tableRequests: callsTo("dynamodb:"),
        secretCalls: callsTo("secretsmanager:"),
        objectPuts: callsTo("s3:Put") + callsTo("s3:List"),
        objectGets: callsTo("s3:Get"),
        logBytes: found.logBytes() - before.bytes,
      });
      onProgress(`Ran ${functionId}`);
    }
    return ticks;
  } finally {
    await system.close();
  }
}
