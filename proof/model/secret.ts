import {
  ResourceNotFoundException,
  SecretsManagerClient,
  SecretsManagerServiceException,
} from "@aws-sdk/client-secrets-manager";
import { createSecretsEngine, type SecretsEngine } from "@income-events/local-stack/engines/secrets.ts";
import { SecretsError } from "@income-events/local-stack/engines/secrets-error.ts";
import { z } from "zod";
import { type TokenSecret, tokenSecret } from "../../adapters/secrets/token-secret.ts";
import { parseTokenSecret, type TokenVersion } from "../../domain/fetch/token.ts";
import type { Do } from "./processes.ts";

const region = "eu-central-1";
const answered = z.object({ SecretString: z.string().optional(), VersionId: z.string().optional() });

/** The token's secret, on the local runner's engine: its staging labels move as in Secrets Manager. */
export class Secret {
  readonly #engine: SecretsEngine;
  readonly #id: string;

  constructor(token: string, now: () => Date) {
    this.#engine = createSecretsEngine({ region, account: "000000000000", now });
    this.#id = this.#engine.create({ name: "token", secretString: JSON.stringify({ token }) }).arn;
  }

  get current(): TokenVersion {
    const { SecretString = "", VersionId = "" } = this.#call("GetSecretValue", { SecretId: this.#id });
    return parseTokenSecret(SecretString, VersionId);
  }

  /** Sets the token as an operator does. */
  set(token: string): void {
    this.#call("PutSecretValue", { SecretId: this.#id, SecretString: JSON.stringify({ token }) });
  }

  /** Port for a process, in which each call is a step. */
  portOf(step: Do): TokenSecret {
    const client = new SecretsManagerClient({ region });
    client.middlewareStack.add(
      (_, { commandName = "" }) =>
        async ({ input }) => {
          const operation = commandName.replace(/Command$/, "");
          const output = await step(operation, () => this.#call(operation, input));
          return { output: { ...output, $metadata: {} }, response: undefined };
        },
      { step: "initialize", priority: "high" },
    );
    return tokenSecret(client, this.#id);
  }

  /** @throws the SDK's error for one of the engine */
  #call(operation: string, input: object) {
    try {
      return answered.parse(this.#engine.call(operation, input));
    } catch (error) {
      if (!(error instanceof SecretsError)) throw error;
      const { name, message } = error;
      throw name === "ResourceNotFoundException"
        ? new ResourceNotFoundException({ message, $metadata: {} })
        : new SecretsManagerServiceException({ name, message, $fault: "client", $metadata: {} });
    }
  }
}
