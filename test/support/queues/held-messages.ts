import { ChangeMessageVisibilityCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { expect } from "vitest";

/**
 * Takes messages of a queue into its hands as another reader does.
 * @param held for how long, and how many at most; all that SQS gives at once where that is not said
 * @returns gives them back before
 */
export async function holdMessages(
  sqs: SQSClient,
  QueueUrl: string,
  held: { readonly seconds: number; readonly most?: number },
): Promise<() => Promise<void>> {
  const hidden = { VisibilityTimeout: held.seconds, MaxNumberOfMessages: held.most ?? 10 };
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...hidden }));
  expect(Messages).not.toHaveLength(0);
  return async () => {
    for (const { ReceiptHandle } of Messages)
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  };
}
