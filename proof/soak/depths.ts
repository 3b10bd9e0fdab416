import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import type { RunningImplementation } from "../bench/drive/running-implementation.ts";

const depths = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;

/** How many messages are left in all queues, dead-letter queues too: waiting, in flight and delayed. */
export async function depthOf({ sqs, stack }: RunningImplementation): Promise<number> {
  const each = [...stack.queues.values()].map(async ({ url }) => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...depths] });
    const { Attributes = {} } = await sqs.send(command);
    return depths.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  });
  return (await Promise.all(each)).reduce((sum, depth) => sum + depth, 0);
}
