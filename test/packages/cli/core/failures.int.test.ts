import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { localAccount } from "@income-events/local-stack/engines/engine-client.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkAddresses } from "../../../../packages/cli/core/own-addresses.ts";
import { createProgram } from "../../../../packages/cli/program.ts";
import { type Leaf, leavesOf, runInProcess } from "../../../support/in-process.ts";
import {
  expired,
  gone,
  type RefusingAws,
  startRefusingAws,
  throttled,
} from "../../../support/refusing-aws.ts";
import { synthesizeProduct } from "../../../support/running-product.ts";

/** Every command: new ones are tested without being listed here. */
const commands = leavesOf(await createProgram());
const deployed = commands.filter(({ command }) => command.options.some(({ long }) => long === "--outputs"));

async function examplesOf(words: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await runInProcess([...words, "--help"]);
  const [, examples = ""] = /^Examples:\n([\s\S]*?)(?:\n\n|$(?![\s\S]))/m.exec(stdout) ?? [];
  const lines = examples.replaceAll(/ \\\n +/g, " ").split("\n");
  return lines.flatMap((line) => (/^ {2}\S/.test(line) ? [line.trim()] : []));
}

/** The first example's arguments, for a test's deployment. */
async function argumentsOf({ words }: Leaf): Promise<readonly string[]> {
  const [example = ""] = await examplesOf(words);
  const [line = ""] = (example.split("npx income-events ")[1] ?? "").split(/ {4}| [<>|] /);
  const args = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([all, one, two]) => one ?? two ?? all);
  const others = ["--stage", "--outputs"].flatMap((flag) =>
    args.includes(flag) ? [args.indexOf(flag)] : [],
  );
  return args.filter((_, index) => !others.some((at) => index === at || index === at + 1));
}

describe.each(commands.map((leaf) => [leaf.words.join(" "), leaf] as const))("%s", (name, { words }) => {
  it("describes itself in its help, with an example of a separate command line", async () => {
    const { code, stdout } = await runInProcess([...words, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: income-events ${name}`));
    const examples = await examplesOf(words);
    expect(examples[0]).toContain(`npx income-events ${name}`);
    for (const example of examples) {
      expect(example).toContain("npx income-events ");
      // Completes ids: a prefix copied from an example finds nobody.
      for (const [, id] of example.matchAll(/--(?:user|account|company-account) ([\w-]+)/g))
        expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
  });
});

describe.each(deployed.map((leaf) => [leaf.words.join(" "), leaf] as const))("%s ends", (_, leaf) => {
  let aws: RefusingAws;
  let directory: string;
  let outputs: readonly string[];
  let args: readonly string[];
  /** Only commands that ask for confirmation. */
  const yes = leaf.command.options.some(({ long }) => long === "--yes") ? ["--yes"] : [];
  beforeAll(async () => {
    aws = await startRefusingAws();
    directory = await mkdtemp(join(tmpdir(), "failures-"));
    const file = join(directory, "outputs.json");
    await writeFile(file, JSON.stringify({ "income-events-failures": await planned(aws.url) }));
    outputs = ["--outputs", file, ...yes];
    args = await argumentsOf(leaf);
  });
  afterAll(async () => {
    await aws[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    aws.calls.length = 0;
  });

  const run = async (flags: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const result = await runInProcess([...args, ...flags], { env, input: tokenLike });
    expect(result.stdout).toBe("");
    return result;
  };
  const credentials = () => ({
    AWS_ENDPOINT_URL: aws.url,
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "example",
    AWS_MAX_ATTEMPTS: "2",
  });

  it("if nothing is deployed, naming the remedy", async () => {
    expect(await run(yes)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/No system runs on this machine(.|\n)*--outputs(.|\n)*npm start/),
    });
  });

  it("if there is no such stage, naming the existing one", async () => {
    expect(await run([...outputs, "--stage", "other"], credentials())).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/matches --stage other\. Choose one with:\n {2}--stage failures$/m),
    });
    expect(aws.calls).toEqual([]);
  });

  it("if there are no credentials, naming the remedy", async () => {
    expect(await run(outputs, { AWS_ENDPOINT_URL: aws.url })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("No AWS credentials found"),
    });
    expect(aws.calls).toEqual([]);
  });

  it("if the credentials have expired, reporting it", async () => {
    aws.refuse = expired;
    expect(await run(outputs, credentials())).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        "The AWS credentials have expired. Run aws sso login, or set new ones.",
      ),
    });
  });

  it("if AWS throttles it despite retries, naming when to run it again", async () => {
    aws.refuse = throttled;
    expect(await run(outputs, credentials())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("AWS throttles the requests. Run the command again in a minute."),
    });
    expect(aws.calls.length).toBeGreaterThan(1);
  });

  it("if the stage no longer exists, asking whether the outputs are current", async () => {
    aws.refuse = gone;
    expect(await run(outputs, credentials())).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("--outputs is of its last deployment."),
    });
  });
});

it("takes each output of the product as AWS names its own addresses", async () => {
  const outputs = await planned("https://sqs.eu-central-1.amazonaws.com");
  expect(outputs).toMatchObject({
    DocumentsUrl: expect.stringMatching(/\.on\.aws\/$/),
    Subscribers: expect.stringContaining("arn:aws:iam::210987654321:role/reader"),
  });
  const place = { partition: "aws", region: "eu-central-1", account: localAccount };
  expect(() => checkAddresses(outputs, place, "outputs.json")).not.toThrow();
});

/** A JWT that never expires. */
const tokenLike = `${btoa('{"alg":"none"}')}.${btoa("{}")}.x`;

let plan: ReturnType<typeof planProduct> | undefined;
/** Outputs of the product as if it were deployed at this origin. */
async function planned(origin: string): Promise<Readonly<Record<string, string>>> {
  plan ??= planProduct();
  const { outputs } = await plan;
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => [
      name,
      value.replace(/https?:\/\/[^/"]+(?=\/\d{12}\/)/g, origin),
    ]),
  );
}

async function planProduct() {
  // Principals in the examples.
  const principals = ["210987654321", "arn:aws:iam::210987654321:role/reader"];
  const names = ["everything", "accounts", "smoke"];
  const subscribers = [...names.map((name) => ({ name })), { name: "local", principals }];
  await using assembly = await synthesizeProduct("failures", { subscribers });
  const place = { region: "eu-central-1", account: localAccount, parameters: {} };
  return planStack(readAssembly(assembly.directory), place);
}
