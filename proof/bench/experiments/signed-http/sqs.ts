import { type Operation, SignedClient } from "./signed-client.ts";

const service = {
  id: "sqs",
  target: "AmazonSQS",
  contentType: "application/x-amz-json-1.0",
} as const;

type BatchInput = { readonly QueueUrl: string };

/** Stands for `@aws-sdk/client-sqs` in a bundle. */
export class SQSClient {
  readonly #client = new SignedClient(service);

  /** As the SDK's client does: to where the queue's address says. */
  send({ operation }: SendMessageBatchCommand): Promise<unknown> {
    return this.#client.call(operation, new URL("/", operation.input.QueueUrl).href);
  }
}

export class SendMessageBatchCommand {
  readonly operation: Operation<BatchInput>;
  constructor(input: BatchInput) {
    this.operation = { name: "SendMessageBatch", input };
  }
}
