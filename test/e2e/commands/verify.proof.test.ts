import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { readItems, readObjects } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { startTestProvider } from "../../support/test-provider.ts";

const report = z.object({
  run: z.string(),
  passed: z.boolean(),
  checks: z.array(z.object({ name: z.string(), passed: z.boolean(), seen: z.string() })),
  documentsRead: z.number(),
  documentsMissing: z.number(),
  webhooks: z.object({ sent: z.number(), atOnce: z.number() }),
  subscribers: z.object({ read: z.array(z.string()), left: z.array(z.string()) }),
});

describe("income-events verify", () => {
  let stage: OperatedStage;
  let clients: ReturnType<typeof clientsOf>;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "smoke-"));
    const subscribers = [{ name: "smoke" }, { name: "accounts", types: ["account.*"] }, { name: "real" }];
    stage = await startOperatedStage("smoke", { subscribers });
    clients = clientsOf(stage.system.access);
    await stage.system.sandbox.createUsers(1);
    await waitUntilIdle(stage.system);
  });
  afterAll(async () => {
    clients[Symbol.dispose]();
    await stage?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const verify = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
    const json = join(directory, "report.json");
    const result = await stage.run(["verify", "--json", json, ...args], { env });
    return { ...result, report: async () => report.parse(JSON.parse(await readFile(json, "utf8"))) };
  };
  const failed = ({ checks }: z.output<typeof report>) => checks.filter(({ passed }) => !passed);
  /** As in AWS: a file of outputs, and the SDK's variables. */
  const verifyInAws = async (args: readonly string[], changes: object = {}) => {
    const { name, outputs } = stage.system.stack;
    const file = join(directory, "outputs.json");
    await writeFile(file, JSON.stringify({ [name]: { ...outputs, ...changes } }));
    return verify(["--outputs", file, ...args], stage.asAws);
  };
  const depthOf = (output: string) => queueDepth(clients.sqs, stage.output(output));
  const keysInTable = async () =>
    (await readItems(stage.system.access, stage.output("TableName"))).map(({ pk, sk }) => `${pk} ${sk}`);

  it("passes on a system of npm start, within its limits, and never calls the provider", async () => {
    const result = await verify();

    const announced = await result.report();
    expect(failed(announced)).toEqual([]);
    expect(result).toMatchObject({ code: 0 });
    expect(announced.webhooks.sent).toBeLessThanOrEqual(100);
    expect(announced.webhooks.atOnce).toBe(10);
    expect(announced.subscribers).toEqual({ read: ["smoke"], left: ["accounts", "real"] });
    const sandboxHeard = stage.system.sandbox.calls().filter(({ path }) => path.includes(announced.run));
    expect(sandboxHeard).toEqual([]);
  });

  it("passes with outputs, endpoint and credentials as in AWS; keeps others' messages and dead letters", async () => {
    const { waiting } = await depthOf("SubscriberRealQueueUrl");
    for (const output of ["SubscriberRealQueueUrl", "UsersDeadLetterQueueUrl"])
      await clients.sqs.send(
        new SendMessageCommand({ QueueUrl: stage.output(output), MessageBody: "another's" }),
      );
    // Left by the first test and unread since.
    expect(waiting).toBeGreaterThan(0);

    const result = await verifyInAws(["--subscriber", "accounts", "--subscriber", "real"]);

    const announced = await result.report();
    expect(failed(announced)).toEqual([]);
    expect(result.code).toBe(0);
    expect(announced.subscribers.left).toEqual(["smoke"]);
    const { length: documentsRead } = (await keysInTable()).filter((key) => key.includes(" DOCUMENT#"));
    expect(documentsRead).toBeGreaterThan(0);
    expect(announced).toMatchObject({ documentsRead, documentsMissing: 0 });
    expect(await depthOf("SubscriberRealQueueUrl")).toMatchObject({ waiting: waiting + 1, inFlight: 0 });
    expect(await depthOf("UsersDeadLetterQueueUrl")).toMatchObject({ waiting: 1, inFlight: 0 });
  });

  it("prints how to erase its own events, which works", async () => {
    const first = await verify();
    const { run } = await first.report();
    expect(first.stdout).toContain(`npx income-events verify --stage smoke --erase ${run}`);
    const isOfRun = (key: string) => key.includes(run);
    const others = (await keysInTable()).filter((key) => !isOfRun(key));
    expect((await keysInTable()).filter(isOfRun)).not.toEqual([]);
    const objects = async () =>
      (await readObjects(stage.system.access, stage.output("OverflowBucketName"))).size;
    const objectsBefore = await objects();

    const result = await verify(["--erase", run]);

    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("items of the run") });
    expect(await keysInTable()).toEqual(others);
    // One large body of each kind.
    expect(await objects()).toBe(objectsBefore - 4);
  });

  it("names what fails: a stage that accepts anything from anyone", async () => {
    const anyone = await startTestProvider();
    anyone.answer = () => 202;
    const result = await verifyInAws(["--deadline", "1"], { WebhooksUrl: `${anyone.url}/webhooks` }).finally(
      anyone.close,
    );

    expect(result.code).toBe(1);
    const names = failed(await result.report()).map(({ name }) => name);
    for (const kind of ["users", "accounts", "endpoints", "company-accounts"]) {
      expect(names).toContain(`${kind}: refuses a webhook without the secret (401)`);
      expect(names).toContain(`${kind}: refuses a webhook with a wrong secret (401)`);
      expect(names).toContain(`${kind}: refuses other methods (405)`);
      expect(names).toContain(`${kind}: puts what names no event among its dead letters, with the reason`);
      expect(names).toContain(`${kind}: stores each other event once`);
      expect(names).toContain(`subscriber smoke: gets each event of ${kind} as a CloudEvent, under one id`);
    }
    expect(result.stdout).toMatch(/^FAIL {2}users: stores each other event once: 0 of 4; user\/5e57da7a/m);
  });

  it.each([
    [["--subscriber", "nobody"], "No subscriber nobody. The stage has: smoke, accounts, real."],
    [["--at-once", "11"], "whole number from 1 to 10"],
    [["--erase", "everything"], "write the id of the run"],
  ])("sends nothing if it is used wrongly: %s", async (args, reason) => {
    const result = await verify(args);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
    expect(result.stderr).not.toContain("Sending webhooks");
  });
});
