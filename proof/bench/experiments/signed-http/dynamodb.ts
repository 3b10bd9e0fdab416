import { type Operation, SignedClient } from "./signed-client.ts";

const service = {
  id: "dynamodb",
  target: "DynamoDB_20120810",
  contentType: "application/x-amz-json-1.0",
} as const;

/** Stands for `@aws-sdk/client-dynamodb` in a bundle that updates items; an attribute's value is its own JSON. */
export class DynamoDBClient {
  readonly #client = new SignedClient(service);

  send({ operation }: UpdateItemCommand): Promise<unknown> {
    return this.#client.call(operation);
  }
}

export class UpdateItemCommand {
  readonly operation: Operation<object>;
  constructor(input: object) {
    this.operation = { name: "UpdateItem", input };
  }
}
