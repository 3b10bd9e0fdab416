import { hash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { startTestProvider } from "@income-events/local-stack/provider.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { RecordReceipt } from "../../../adapters/dynamodb/event-table.ts";
import type { Send } from "../../../adapters/sqs/sqs-sender.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { bundle, writeBundle } from "../../../lib/function/bundle.ts";
import { ports as overSdk, type Ports } from "../../../proof/bench/experiments/signed-http/ports.ts";
import { SignedClient } from "../../../proof/bench/experiments/signed-http/signed-client.ts";
import { signedHttp } from "../../../proof/bench/experiments/signed-http/stand-ins.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";
import { eventually } from "../../support/eventually.ts";

/** The same ports as they would be deployed: bundled, with the clients over signed HTTP in the place of the SDK's. */
async function bundledPorts(): Promise<Ports> {
  const directory = mkdtempSync(join(tmpdir(), "signed-http-"));
  const repository = join(import.meta.dirname, "../../..");
  const built = bundle(repository, "proof/bench/experiments/signed-http/ports.ts", signedHttp);
  expect(built.inputs.filter((input) => /@aws-sdk\/client-(?!s3)|@smithy\//.test(input))).toEqual([]);
  writeBundle(directory, built);
  const module: typeof import("../../../proof/bench/experiments/signed-http/ports.ts") = await import(
    join(directory, "index.mjs")
  );
  rmSync(directory, { recursive: true });
  return module.ports;
}

const throttled: Fault = { status: 400, errorType: "ThrottlingException", message: "injected" };
const unavailable: Fault = { status: 503, errorType: "ServiceUnavailable", message: "injected" };
const denied: Fault = { status: 403, errorType: "AccessDeniedException", message: "injected" };

await describeOnTables("what receivers and consumers ask of AWS", (tables) => {
  let system: TestSystem;
  let table: TestTable;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
  });
  afterAll(() => system.close());
  beforeEach(() => {
    process.env.AWS_MAX_ATTEMPTS = "3";
  });
  afterEach(() => {
    process.env.AWS_MAX_ATTEMPTS = "1";
  });

  const eventOf = (): IncomeEvent => ({
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    accountId: randomUUID(),
    receivedAt: "2026-11-21T10:00:00.000Z",
  });
  const stored = (event: IncomeEvent) => table.item(`ACCOUNT#${event.accountId}`, `EVENT#${event.id}`);

  /** Answers the first calls of an action otherwise. @returns how many calls there were */
  function disturb(action: string, faults: readonly (Fault | "drop")[], at: "before" | "after" = "before") {
    let calls = 0;
    const end = system.intercept(async (call, moment) => {
      if (call.action !== action || moment !== at) return undefined;
      calls += 1;
      return faults[calls - 1];
    });
    onTestFinished(end);
    return () => calls;
  }

  describe.each([
    ["the SDK's clients", async () => overSdk],
    ["signed HTTP", bundledPorts],
  ])("over %s", (_, portsOf) => {
    let send: Send;
    let record: RecordReceipt;
    let ports: Ports;
    let queueUrl: string;

    beforeAll(async () => {
      ports = await portsOf();
      send = ports.send();
      record = ports.recordIn(table.name);
    });
    beforeEach(async () => {
      queueUrl = await system.createQueue();
    });

    test("sends messages in batches of ten, with their reasons", async () => {
      const bodies = Array.from({ length: 12 }, (_, index) => `${index} ü€`);
      expect(
        await send(
          queueUrl,
          bodies.map((body) => ({ body, reason: "because: ü" })),
        ),
      ).toEqual(bodies.map(() => undefined));
      const messages = await system.drain(queueUrl);
      expect(messages.map(({ Body }) => Body).toSorted()).toEqual(bodies.toSorted());
      expect(messages[0]?.MessageAttributes?.reason?.StringValue).toBe("because: ü");
    });

    test("tells per message what SQS refuses of a batch, and in order", async () => {
      await using sqs = await queueService();
      sqs.server.answer = () => ({
        json: {
          // The SDK compares the digest.
          Successful: [{ Id: "0", MessageId: "m", MD5OfMessageBody: hash("md5", "0") }],
          Failed: [
            { Id: "2", SenderFault: false, Code: "InternalError" },
            { Id: "1", SenderFault: true, Code: "InvalidMessageContents" },
          ],
        },
      });
      expect(await send(sqs.queueUrl, [{ body: "0" }, { body: "1" }, { body: "2" }])).toEqual([
        undefined,
        { kind: "retryable", reason: "SQS: InvalidMessageContents", delayInSeconds: 0 },
        { kind: "retryable", reason: "SQS: InternalError", delayInSeconds: 0 },
      ]);
    });

    test("names what is wrong with a queue that is gone", async () => {
      expect(await send(`${queueUrl}-gone`, [{ body: "x" }])).toMatchObject([
        { kind: "retryable", reason: expect.stringMatching(/QueueDoesNotExist/) },
      ]);
    });

    test("records the first receipt and counts the others, a hundred at once", async () => {
      const event = eventOf();
      const receipts = Array.from({ length: 100 }, () =>
        record({ event, body: { as: "text", text: '{"ü":1}' } }),
      );
      expect((await Promise.all(receipts)).filter((receipt) => receipt === "first")).toHaveLength(1);
      expect(await stored(event)).toMatchObject({
        receipts: 100,
        body: { as: "text", text: '{"ü":1}' },
        event,
      });
    });

    test("reads a secret", async () => {
      expect(await ports.secret(system.createSecret("a secret")).read()).toBe("a secret");
    });

    test.each<[string, Fault | "drop"]>([
      ["throttling", throttled],
      ["a trouble of AWS's own", unavailable],
      ["a connection that is cut", "drop"],
    ])("tries again after %s, and gives up after three attempts", async (_, fault) => {
      const event = eventOf();
      const twice = disturb("dynamodb:UpdateItem", [fault, fault]);
      expect(await record({ event, body: { as: "text", text: "" } })).toBe("first");
      expect(twice()).toBe(3);
      const always = disturb("sqs:SendMessageBatch", [fault, fault, fault]);
      expect(await send(queueUrl, [{ body: "x" }])).toMatchObject([{ kind: "retryable" }]);
      expect(always()).toBe(3);
    });

    test("does not try again what is not allowed", async () => {
      const calls = disturb("secretsmanager:GetSecretValue", [denied]);
      await expect(ports.secret(system.createSecret("x")).read()).rejects.toMatchObject({
        name: "AccessDeniedException",
      });
      expect(calls()).toBe(1);
    });

    test("counts a write that was made though its answer was lost, and it is still one event", async () => {
      disturb("dynamodb:UpdateItem", ["drop"], "after");
      const event = eventOf();
      expect(await record({ event, body: { as: "text", text: "" } })).toBe("again");
      expect(await stored(event)).toMatchObject({ receipts: 2 });
    });

    test("is refused with the credentials of nobody", async () => {
      const { AWS_SECRET_ACCESS_KEY: key } = process.env;
      onTestFinished(() => void Object.assign(process.env, { AWS_SECRET_ACCESS_KEY: key }));
      process.env.AWS_SECRET_ACCESS_KEY = "another";
      const results = await ports.send()(queueUrl, [{ body: "x" }]);
      expect(results).toMatchObject([{ reason: expect.stringMatching(/Signature/) }]);
    });
  });
});

/** SQS as a server that says what a test wants it to say. */
async function queueService() {
  const server = await startTestProvider();
  return { server, queueUrl: `${server.url}/0/queue`, [Symbol.asyncDispose]: () => server.close() };
}

test("a service that never answers fails over signed HTTP in its time; the SDK's clients have none", async () => {
  await using sqs = await queueService();
  sqs.server.answer = () => () => undefined;
  Object.assign(process.env, {
    AWS_REGION: "x",
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    AWS_MAX_ATTEMPTS: "2",
  });
  const service = { id: "sqs", target: "AmazonSQS", contentType: "application/x-amz-json-1.0" };
  const client = new SignedClient(service, { connect: 5_000, headers: 20 });
  await expect(client.call({ name: "SendMessageBatch", input: {} }, sqs.server.url)).rejects.toMatchObject({
    code: "HEADERS_TIMEOUT",
  });
  await eventually(() => expect(sqs.server.requests).toHaveLength(2));
});
