import { announce } from "@income-events/local-stack/announce.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { SandboxOptions } from "@income-events/sandbox/server.ts";
import { expect } from "vitest";
import type { CommandOptions, CommandResult } from "./command-line.ts";
import { runInProcess } from "./in-process.ts";
import { type RunnerOptions, startProduct } from "./running-product.ts";

/** A running product that commands find as they find `npm start`. */
export type OperatedStage = Awaited<ReturnType<typeof startOperatedStage>>;

/** @param changes settings that replace the stage's, by group */
export async function startOperatedStage(
  stage: string,
  changes: object = {},
  sandbox: SandboxOptions = {},
  runner: RunnerOptions = {},
) {
  const product = await startProduct(stage, changes, sandbox, runner);
  const { system } = product;
  const endAnnouncement = announce(system.stack, {
    sandbox: system.sandbox,
    ...(runner.logs !== undefined && { logs: runner.logs }),
  });
  const { gatewayUrl, region, operator } = system.stack;
  let last: Promise<unknown> = Promise.resolve();
  const run = (args: readonly string[], options?: CommandOptions): Promise<CommandResult> => {
    const ended = last.then(() => runInProcess([...args, "--stage", stage], options));
    last = ended.catch(() => undefined);
    return ended;
  };
  return {
    system,
    /** Runs a command on this stage in this process, one at a time. */
    run,
    /** Runs a command that succeeds without a word on stderr; returns what it prints with `--json`. */
    json: async (...args: readonly string[]) => {
      const result = await run([...args, "--json"]);
      expect(result).toMatchObject({ code: 0, stderr: "" });
      return Object(result.json());
    },
    output: (name: string) => outputOf(system.stack, name),
    /** Environment in which this stage stands for AWS: the operator's credentials and the gateway's URL. */
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
