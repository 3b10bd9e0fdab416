import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { announce } from "@income-events/local-stack/announce.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { type System, startSystem } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readItems } from "../../../proof/scenario/snapshot.ts";
import type { ProductAssembly } from "../../../proof/support/product-assembly.ts";
import { runCommand } from "../../support/command-line.ts";
import { fastEngine } from "../../support/engines.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { synthesizeProduct } from "../../support/running-product.ts";

const report = z.object({
  run: z.string(),
  passed: z.boolean(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean(), seen: z.string() })),
  documentsRead: z.number(),
  documentsMissing: z.number(),
  webhooks: z.object({ sent: z.number(), atOnce: z.number() }),
  subscribers: z.object({ read: z.array(z.string()), left: z.array(z.string()) }),
});
type Report = z.output<typeof report>;

/** As read with the SDK. */
const environmentOf = (
  { stack }: System,
  { accessKeyId, secretAccessKey }: { readonly accessKeyId: string; readonly secretAccessKey: string },
) => ({
  AWS_ENDPOINT_URL: stack.gatewayUrl,
  AWS_ACCESS_KEY_ID: accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKey,
});

const failed = ({ checks }: Report) => checks.filter(({ passed }) => !passed);
const failedNames = (of: Report) => failed(of).map(({ name }) => name);

describe("income-events verify", () => {
  let product: ProductAssembly;
  let system: System;
  let directory: string;
  let endAnnouncement: () => void;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "smoke-"));
    const subscribers = [{ name: "smoke" }, { name: "accounts", types: ["account.*"] }, { name: "real" }];
    product = await synthesizeProduct("smoke", { subscribers });
    system = await start(product);
    endAnnouncement = announce(system.stack);
    await system.sandbox.createUsers(1);
    await waitUntilIdle(system);
  });
  afterAll(async () => {
    endAnnouncement();
    await system.close();
    await product?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const start = async ({ directory: assembly }: ProductAssembly) => {
    const options = { once: true, users: 0, stage: "smoke", assembly, engine: await fastEngine() };
    const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
    const nothing = () => undefined;
    return startSystem({ ...options, ...ports }, {}, { progress: nothing, notice: nothing }, nothing);
  };
  const verify = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const json = join(directory, "report.json");
    const result = await runCommand(["verify", "--json", json, ...args], { env });
    return { ...result, report: async () => report.parse(JSON.parse(await readFile(json, "utf8"))) };
  };
  /** As in AWS: a file of outputs, and the SDK's variables. */
  const asInAws = async (of: System, changes: object = {}) => {
    const { name, outputs, operator } = of.stack;
    const file = join(directory, "outputs.json");
    await writeFile(file, JSON.stringify({ [name]: { ...outputs, ...changes } }));
    return { args: ["--outputs", file], env: environmentOf(of, operator) };
  };
  const client = () => new SQSClient(system.access);
  const countIn = async (output: string) => {
    const { Attributes = {} } = await client().send(
      new GetQueueAttributesCommand({
        QueueUrl: outputOf(system.stack, output),
        AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
      }),
    );
    const { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: hidden } =
      Attributes;
    return { visible: Number(visible), hidden: Number(hidden) };
  };
  const itemsInTable = async () => {
    const items = await readItems(system.access, outputOf(system.stack, "TableName"));
    return items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  };
  const keysInTable = async () => (await itemsInTable()).map(({ pk }) => pk);
  const documentsInTable = async () => (await itemsInTable()).filter(({ sk }) => sk.startsWith("DOCUMENT#"));

  it("passes on a system of npm start, within its limits, and never calls the provider", async () => {
    const result = await verify(["--stage", "smoke"]);

    const announced = await result.report();
    expect(failed(announced)).toEqual([]);
    expect(result).toMatchObject({ code: 0 });
    expect(announced.webhooks.sent).toBeLessThanOrEqual(100);
    expect(announced.webhooks.atOnce).toBe(10);
    expect(announced.subscribers).toEqual({ read: ["smoke"], left: ["accounts", "real"] });
    const sandboxHeard = system.sandbox.calls().filter(({ path }) => path.includes(announced.run));
    expect(sandboxHeard).toEqual([]);
  });

  it("passes with outputs, endpoint and credentials as in AWS; keeps others' messages and dead letters", async () => {
    const { args, env } = await asInAws(system);
    const before = await countIn("SubscriberRealQueueUrl");
    const send = (output: string) =>
      client().send(
        new SendMessageCommand({ QueueUrl: outputOf(system.stack, output), MessageBody: "another's" }),
      );
    await send("SubscriberRealQueueUrl");
    await send("UsersDeadLetterQueueUrl");
    // Left by the first test and unread since.
    expect(before.visible).toBeGreaterThan(0);

    const result = await verify([...args, "--subscriber", "accounts", "--subscriber", "real"], env);

    const announced = await result.report();
    expect(failed(announced)).toEqual([]);
    expect(result.code).toBe(0);
    expect(announced.subscribers.left).toEqual(["smoke"]);
    const { length: documentsRead } = await documentsInTable();
    expect(documentsRead).toBeGreaterThan(0);
    expect(announced).toMatchObject({ documentsRead, documentsMissing: 0 });
    expect(await countIn("SubscriberRealQueueUrl")).toEqual({ visible: before.visible + 1, hidden: 0 });
    expect(await countIn("UsersDeadLetterQueueUrl")).toEqual({ visible: 1, hidden: 0 });
  });

  it("prints how to erase its own events, which works", async () => {
    const first = await verify(["--stage", "smoke"]);
    const { run } = await first.report();
    expect(first.stdout).toContain(`npx income-events verify --stage smoke --erase ${run}`);
    const isOfRun = (key: string) => key.includes(run);
    const others = (await keysInTable()).filter((key) => !isOfRun(key));
    expect((await keysInTable()).filter(isOfRun)).not.toEqual([]);
    const Bucket = outputOf(system.stack, "OverflowBucketName");
    const objects = async () =>
      (await new S3Client(system.access).send(new ListObjectsV2Command({ Bucket }))).KeyCount ?? 0;
    const objectsBefore = await objects();

    const result = await verify(["--stage", "smoke", "--erase", run]);

    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("items of the run") });
    expect(await keysInTable()).toEqual(others);
    // One large body of each kind.
    expect(await objects()).toBe(objectsBefore - 4);
  });

  it("names what fails: events that are not stored", async () => {
    await using broken = await product.copy();
    const source = 'export const handler = async () => { throw new Error("broken") };';
    await broken.replaceBundle(/^UsersStoreFunction/, source);
    const brokenSystem = await start(broken);
    try {
      const { args, env } = await asInAws(brokenSystem);
      const result = await verify([...args, "--deadline", "8"], env);

      const announced = await result.report();
      expect(result.code).toBe(1);
      expect(failedNames(announced).filter((name) => name.startsWith("users"))).toEqual([
        "users: stores an event that arrives three times once",
        "users: stores each other event once",
        "users: stores an event of 400 KB",
        "users: puts what names no event among its dead letters, with the reason",
      ]);
      expect(failedNames(announced)).toContain(
        "subscriber smoke: gets each event of users as a CloudEvent, under one id",
      );
      expect(result.stdout).toMatch(/^FAIL {2}users: stores each other event once: 0 of 4; user\/5e57da7a/m);
    } finally {
      await brokenSystem.close();
    }
  });

  it("names what fails: a stage that accepts anything from anyone", async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(202).end();
    });
    const { port } = await new Promise<AddressInfo>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve(z.custom<AddressInfo>().parse(server.address())));
    });
    try {
      const { args, env } = await asInAws(system, { WebhooksUrl: `http://127.0.0.1:${port}/webhooks` });
      const result = await verify([...args, "--deadline", "1"], env);

      expect(result.code).toBe(1);
      const names = failedNames(await result.report());
      for (const kind of ["users", "accounts", "endpoints", "company-accounts"]) {
        expect(names).toContain(`${kind}: refuses a webhook without the secret (401)`);
        expect(names).toContain(`${kind}: refuses a webhook with a wrong secret (401)`);
        expect(names).toContain(`${kind}: refuses other methods (405)`);
        expect(names).toContain(`${kind}: puts what names no event among its dead letters, with the reason`);
      }
    } finally {
      server.close();
    }
  });

  it.each([
    [["--subscriber", "nobody"], 2, "No subscriber nobody. The stage has: smoke, accounts, real."],
    [["--at-once", "11"], 2, "whole number from 1 to 10"],
    [["--erase", "everything"], 2, "write the id of the run"],
    [["--stage", "nowhere"], 3, "No system of the stage nowhere runs on this machine"],
  ])("sends nothing if it is used wrongly: %s", async (args, code, reason) => {
    const result = await verify(["--stage", "smoke", ...args]);
    expect(result).toMatchObject({ code, stderr: expect.stringContaining(reason) });
    expect(result.stderr).not.toContain("Sending webhooks");
  });

  it("reads nobody's queue in AWS without a flag", async () => {
    const real = {
      name: "real",
      queueUrl: "https://sqs.example/real",
      deadLetterQueueUrl: "https://sqs.example/dead",
    };
    const Subscribers = JSON.stringify([real]);
    const { args, env } = await asInAws(system, { Subscribers });
    const result = await verify(args, env);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("--subscriber real") });
  });
});
