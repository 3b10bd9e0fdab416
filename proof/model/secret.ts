import { createHash } from "node:crypto";
import { createSecretsEngine, type SecretsEngine } from "@income-events/local-stack/engines/secrets.ts";
import { SecretsError } from "@income-events/local-stack/engines/secrets-error.ts";
import type { StoredToken, TokenSecret } from "../../adapters/secrets/token-secret.ts";
import { parseTokenSecret } from "../../domain/fetch/token.ts";
import type { Do } from "./processes.ts";

type Stage = "AWSCURRENT" | "AWSPENDING";

/** The token's secret, on the local runner's engine: its staging labels move as in Secrets Manager. */
export class Secret {
  readonly #engine: SecretsEngine;
  readonly #id: string;

  constructor(token: string, now: () => Date) {
    this.#engine = createSecretsEngine({ region: "eu-central-1", account: "000000000000", now });
    this.#id = this.#engine.create({ name: "token", secretString: JSON.stringify({ token }) }).arn;
  }

  get current(): StoredToken {
    return this.#read("AWSCURRENT");
  }

  /** Sets the token as an operator does. */
  set(token: string): void {
    this.#call("PutSecretValue", { SecretString: JSON.stringify({ token }) });
  }

  /** Port for a process, in which each call is a step. */
  portOf(step: Do): TokenSecret {
    return {
      current: () => step("reads the token", () => this.current),
      pending: () => step("reads what is pending", () => this.#pending()),
      propose: (token, replaces) => step("proposes a token", () => this.#propose(token, replaces)),
      promote: (versionId, replaced) =>
        step("promotes a token", () => this.#move("AWSCURRENT", versionId, replaced)),
      discard: (versionId) =>
        step("discards a token", () => void this.#move("AWSPENDING", undefined, versionId)),
    };
  }

  #read(stage: Stage): StoredToken {
    const { SecretString, VersionId } = this.#call("GetSecretValue", { VersionStage: stage });
    return { ...parseTokenSecret(String(SecretString), String(VersionId)), createdAt: new Date(0) };
  }

  #pending(): StoredToken | undefined {
    return this.#unless("ResourceNotFoundException", () => this.#read("AWSPENDING"));
  }

  #propose(token: string, replaces: string) {
    const text = JSON.stringify({ token, replaces });
    const { VersionId } = this.#call("PutSecretValue", {
      SecretString: text,
      VersionStages: ["AWSPENDING"],
      ClientRequestToken: createHash("sha256").update(text).digest("hex"),
    });
    return { versionId: String(VersionId), token, replaces };
  }

  #move(stage: Stage, to: string | undefined, from: string): boolean {
    const moved = this.#unless("InvalidParameterException", () =>
      this.#call("UpdateSecretVersionStage", {
        VersionStage: stage,
        RemoveFromVersionId: from,
        ...(to === undefined ? {} : { MoveToVersionId: to }),
      }),
    );
    return moved !== undefined;
  }

  #unless<T>(name: string, call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      if (error instanceof SecretsError && error.name === name) return undefined;
      throw error;
    }
  }

  #call(operation: string, input: object) {
    return this.#engine.call(operation, { SecretId: this.#id, ...input });
  }
}
