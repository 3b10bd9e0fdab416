import { type Operation, SignedClient } from "./signed-client.ts";

const service = {
  id: "secretsmanager",
  target: "secretsmanager",
  contentType: "application/x-amz-json-1.1",
} as const;

/** Stands for `@aws-sdk/client-secrets-manager` in a bundle that reads a secret. */
export class SecretsManagerClient {
  readonly #client = new SignedClient(service);

  send({ operation }: GetSecretValueCommand): Promise<unknown> {
    return this.#client.call(operation);
  }
}

export class GetSecretValueCommand {
  readonly operation: Operation<object>;
  constructor(input: object) {
    this.operation = { name: "GetSecretValue", input };
  }
}
