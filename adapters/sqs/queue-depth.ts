import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

/** A queue's depth. All counts are approximate. */
export type QueueDepth = {
  /** Ready to be received, or delayed. */
  readonly waiting: number;
  /** Received, and neither deleted nor visible again. */
  readonly inFlight: number;
  /** How long the queue keeps a message. */
  readonly retentionSeconds: number;
};

export async function queueDepth(client: SQSClient, queueUrl: string): Promise<QueueDepth> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
        "MessageRetentionPeriod",
      ],
    }),
  );
  const count = (name: keyof typeof Attributes) => Number(Attributes[name] ?? 0);
  return {
    waiting: count("ApproximateNumberOfMessages") + count("ApproximateNumberOfMessagesDelayed"),
    inFlight: count("ApproximateNumberOfMessagesNotVisible"),
    retentionSeconds: count("MessageRetentionPeriod"),
  };
}
