import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { planStack } from "@income-events/local-stack/assembly/plan-stack.ts";
import { readAssembly } from "@income-events/local-stack/assembly/read-assembly.ts";
import { localAccount } from "@income-events/local-stack/engines/engine-client.ts";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { App, Stack } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contentOf } from "../../adapters/dynamodb/documents.ts";
import { messageOfDocument } from "../../domain/message/message.ts";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { createBundler } from "../../lib/function/bundle.ts";
import type { CodeOf } from "../../lib/function/pipeline-function.ts";
import { readDocument } from "../../packages/subscriber/read-document.ts";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { documentRead } from "../domain/samples.ts";
import { fastEngine } from "../support/engines.ts";
import { storeIncome } from "../support/stored-content.ts";

const repository = join(import.meta.dirname, "../..");
const account = { kind: "account", id: randomUUID() } as const;
const text = '{"data":[{"net":731.25}]}';
const nowhere = "http://127.0.0.1:9";
const parameters = { EventsProviderBaseUrl: nowhere, InvokedProviderBaseUrl: nowhere };

/**
 * Synthesizes an app with a pipeline and a function for each of two subscribers, one of which gets no
 * documents.
 */
async function synthesize(directory: string): Promise<void> {
  using bundler = await createBundler(repository);
  const app = new App({ outdir: join(directory, "out"), builtinCloudFormationValidation: false });
  const stack = new Stack(app, "Lending");
  const local = JSON.parse(readFileSync(join(repository, "stages/local.json"), "utf8"));
  const subscribers = [{ name: "accounts", types: ["account.*"] }, { name: "incomes" }];
  const written = { ...local, subscribers };
  const codeOf: CodeOf = (entry, settings, name) =>
    lambda.Code.fromAsset(bundler.codeOf(entry, settings, name).directory);
  const add = (id: string, more = {}) => {
    const props = { stage: id.toLowerCase(), where: "the test", codeOf, written: { ...written, ...more } };
    return new IncomeEvents(stack, id, props);
  };
  const pipelines = [add("Events"), add("Invoked", { reading: "invoke", register: { enabled: false } })];
  const code = join(directory, "code");
  mkdirSync(code);
  writeFileSync(join(code, "index.mjs"), "export const handler = () => undefined;");
  for (const { name } of subscribers) {
    const reader = new lambda.Function(stack, `${name}Reader`, {
      runtime: lambda.Runtime.NODEJS_24_X,
      handler: "index.handler",
      code: lambda.Code.fromAsset(code),
    });
    for (const events of pipelines) events.subscriber(name).grantReadDocuments(reader);
  }
  app.synth();
}

/** The policy that the page on documents recommends for a reader. */
function advisedPolicy(functionArn: string) {
  const page = readFileSync(join(repository, "docs/guide/documents.md"), "utf8");
  const blocks = [...page.matchAll(/^```json\n(\[.*?^\])\n```$/gms)].map(([, block = ""]) => block);
  const [written = "", ...others] = blocks.filter((block) => block.includes("lambda:InvokeFunctionUrl"));
  expect(others).toEqual([]);
  return parsePolicy(
    { Statement: JSON.parse(written.replaceAll("DocumentsFunctionArn", functionArn)) },
    "advised",
  );
}

describe("a role that a subscriber's documents are granted to", () => {
  const cleanup = new AsyncDisposableStack();
  let stack: LocalStack;
  let document: URL;
  let invoked: URL;
  /** Names of roles, by subscriber. */
  const roles = new Map<string, string>();
  const path = () => document.pathname;

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), "grants-"));
    cleanup.defer(() => rmSync(directory, { recursive: true, force: true }));
    await synthesize(directory);
    const assembly = join(directory, "out");
    stack = await startStack({ assembly, parameters, engine: await fastEngine() });
    cleanup.defer(() => stack.close());
    const { functions } = planStack(readAssembly(assembly), {
      region: stack.region,
      account: localAccount,
      parameters,
    });
    for (const { logicalId, roleArn: arn, policies } of functions) {
      const [, name] = /^(\w+)Reader[0-9A-F]{8}$/.exec(logicalId) ?? [];
      if (name === undefined) continue;
      roles.set(name, arn.split("/").at(-1) ?? "");
      stack.gateway.register({ ...credentialsOf(name), name, arn, policies });
      const broad = parsePolicy(
        { Statement: { Effect: "Allow", Action: "lambda:*", Resource: "*" } },
        "broad",
      );
      const more = { name: `${name}Broad`, arn, policies: [...policies, broad] };
      stack.gateway.register({ ...credentialsOf(more.name), ...more });
    }
    const advised = { name: "advised", arn: `arn:aws:iam::${localAccount}:role/advised` };
    const policies = [advisedPolicy(outputOf(stack, "EventsDocumentsFunctionArn"))];
    stack.gateway.register({ ...credentialsOf("advised"), ...advised, policies });
    const [events, others] = [await store("Events"), await store("Invoked")];
    [document, invoked] = [events.url, others.url];
  });
  afterAll(() => cleanup.disposeAsync());

  function credentialsOf(name: string) {
    return { accessKeyId: `READER${name.toUpperCase()}0000000000`, secretAccessKey: "secret" };
  }

  const store = (pipeline: string) => storeIncome(stack, account, [Buffer.from(text)], pipeline);
  const read = (name: string, url = document) =>
    signedFetch(url, { region: stack.region, credentials: credentialsOf(name) });

  const reading = () => {
    const found = stack.functions.find(({ logicalId }) => logicalId.startsWith("EventsReadDocuments"));
    if (found === undefined) throw new Error("the stack has no function that reads");
    return found;
  };

  /** Sends an event that names another reader, as a direct invocation could. */
  async function invokeAsIncomes(name: string, domainName: string) {
    const userArn = `arn:aws:sts::${localAccount}:assumed-role/${roles.get("incomes")}/forged`;
    const event = {
      rawPath: path(),
      rawQueryString: "",
      headers: {},
      requestContext: {
        apiId: "forged",
        domainName,
        http: { method: "GET" },
        authorizer: { iam: { accountId: localAccount, userArn } },
      },
    };
    const access = { endpoint: stack.gatewayUrl, region: stack.region };
    const credentials = name === "operator" ? stack.operator : credentialsOf(name);
    const client = new LambdaClient({ ...access, credentials });
    try {
      const command = { FunctionName: reading().name, Payload: JSON.stringify(event) };
      const { FunctionError, Payload } = await client.send(new InvokeCommand(command));
      return { FunctionError, payload: Buffer.from(Payload ?? []).toString() };
    } finally {
      client.destroy();
    }
  }

  const linesOf = (code: string) =>
    reading()
      .log()
      .filter((line) => line.includes(`"${code}"`));

  it("reads through the function's URL what its subscriber's filter accepts, under its own name in the log", async () => {
    const answer = await read("incomes");
    expect([answer.status, await answer.text()]).toEqual([200, text]);
    expect(linesOf("READ").at(-1)).toContain(`assumed-role/${roles.get("incomes")}`);
  });

  it("reads nothing of what another subscriber without principals gets", async () => {
    expect((await read("accounts")).status).toBe(403);
    expect(linesOf("READ_REFUSED").at(-1)).toContain(`assumed-role/${roles.get("accounts")}`);
    const state = new URL(`v1/accounts/${account.id}`, outputOf(stack, "EventsDocumentsUrl"));
    expect((await read("accounts", state)).status).toBe(404);
  });

  it("reads, without a grant, by the policy that the page on documents advises", async () => {
    expect((await read("advised")).status).toBe(200);
  });

  it.each(["accounts", "incomes", "accountsBroad", "advised"])(
    "can't invoke the function directly with an event of its own: %s",
    async (name) => {
      const reads = linesOf("READ").length;
      const forged = `forged.lambda-url.${stack.region}.on.aws`;
      await expect(invokeAsIncomes(name, forged)).rejects.toMatchObject({ name: "AccessDeniedException" });
      expect(linesOf("READ")).toHaveLength(reads);
    },
  );

  describe("by invoking a function", () => {
    /** Reads the newest version, as a message announces it. */
    const readAs = (name: string, subscriber: string) => {
      const { digest } = contentOf(text);
      const read = documentRead(undefined, digest, { asOf: Date.now() });
      const message = messageOfDocument(
        { ...read, size: text.length },
        { source: "/test", documentsUrl: "arn:/" },
      );
      const href = invoked.href.replace(/^arn:[^/]+/, (functionArn) => `${functionArn}:${subscriber}`);
      const data = { ...Object(message.data), document: { ...Object(message.data).document, href } };
      return readDocument(Object({ ...message, data }), {
        credentials: credentialsOf(name),
        lambdaEndpoint: stack.gatewayUrl,
        tries: 1,
      });
    };
    const lines = () =>
      stack.functions
        .filter(({ logicalId }) => logicalId.startsWith("InvokedReadDocuments"))
        .flatMap(({ log }) => log());

    it("reads as the subscriber whose alias it may invoke", async () => {
      expect(await readAs("incomes", "incomes")).toMatchObject({
        type: "document",
        bytes: new TextEncoder().encode(text),
      });
      expect(lines().at(-1)).toContain('"subscriber/incomes"');
    });

    it("may invoke no other subscriber's alias, and gets what its own filter accepts", async () => {
      await expect(readAs("accounts", "incomes")).rejects.toMatchObject({ status: 403 });
      const answers = lines().length;
      await expect(readAs("accounts", "accounts")).rejects.toMatchObject({ status: 403 });
      expect(lines().slice(answers).join()).toContain("READ_REFUSED");
      await expect(readAs("incomesBroad", "nobody")).rejects.toMatchObject({ status: 404 });
    });
  });

  it("is refused by the function if an event does not name its URL, even an operator's", async () => {
    const reads = linesOf("READ").length;
    const { FunctionError, payload } = await invokeAsIncomes("operator", "example.com");
    expect(FunctionError).toBeDefined();
    expect(payload).not.toContain("731.25");
    expect(linesOf("READ")).toHaveLength(reads);
  });
});
