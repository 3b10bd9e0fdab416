import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { announce } from "@income-events/local-stack/announce.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import { z } from "zod";
import type { CommandOptions, CommandResult } from "./command-line.ts";
import { runInProcess } from "./in-process.ts";
import { type RunnerOptions, startProduct } from "./running-product.ts";

/** A running product that commands find as they find `npm start`. */
export type OperatedStage = AsyncDisposable & {
  readonly system: System;
  /** Runs a command on this stage in this process, one at a time. */
  readonly run: (
    args: readonly string[],
    options?: Pick<CommandOptions, "input" | "env">,
  ) => Promise<CommandResult>;
  /** Environment in which this stage stands for AWS: the operator's credentials and the gateway's URL. */
  readonly asAws: Readonly<
    Record<"AWS_ENDPOINT_URL" | "AWS_REGION" | "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY", string>
  >;
};

/** @param changes settings that replace the stage's, by group */
export async function startOperatedStage(
  stage: string,
  changes: object = {},
  sandbox: SandboxOptions = {},
  runner: RunnerOptions = {},
): Promise<OperatedStage> {
  const product = await startProduct(stage, changes, sandbox, runner);
  const { system } = product;
  const endAnnouncement = announce(system.stack, {
    sandbox: system.sandbox,
    ...(runner.logs !== undefined && { logs: runner.logs }),
  });
  const { gatewayUrl, region, operator } = system.stack;
  let last: Promise<unknown> = Promise.resolve();
  return {
    system,
    run: (args, options) => {
      const run = last.then(() => runInProcess([...args, "--stage", stage], options));
      last = run.catch(() => undefined);
      return run;
    },
    asAws: {
      AWS_ENDPOINT_URL: gatewayUrl,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: operator.accessKeyId,
      AWS_SECRET_ACCESS_KEY: operator.secretAccessKey,
    },
    [Symbol.asyncDispose]: async () => {
      endAnnouncement();
      await product[Symbol.asyncDispose]();
    },
  };
}

/** Reads the webhook secret with an operator's permissions. */
export async function webhookSecretOf({
  gatewayUrl,
  region,
  operator,
  outputs,
}: LocalStack): Promise<string> {
  const client = new SecretsManagerClient({ endpoint: gatewayUrl, region, credentials: operator });
  try {
    const command = new GetSecretValueCommand({ SecretId: outputs.WebhookSecretArn });
    const { SecretString = "" } = await client.send(command);
    return z.object({ current: z.string() }).parse(JSON.parse(SecretString)).current;
  } finally {
    client.destroy();
  }
}
