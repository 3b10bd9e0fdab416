import { request } from "node:http";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, test } from "vitest";
import { signedFetch } from "../../../../proof/support/signed-fetch.ts";
import { clients, queueArn, region, startLocalSystem } from "./local-system.ts";

const system = await startLocalSystem();
afterAll(() => system.close());
const { sqs, dynamodb } = clients(system, system.operator);
const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: "work" }));

describe("identity", () => {
  test("a call without a signature is refused", async () => {
    const status = await new Promise((resolve, reject) => {
      request(system.gateway.url, { method: "POST" }, (answer) => resolve(answer.resume().statusCode))
        .on("error", reject)
        .end("{}");
    });
    expect(status).toBe(403);
  });

  test("a known access key with another secret is refused", async () => {
    const forged = { ...system.operator, secretAccessKey: "guessed" };
    await expect(
      clients(system, forged).sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })),
    ).rejects.toMatchObject({ name: "InvalidSignatureException" });
  });

  test("the operator's tools may be set to any region: queues are found from each", async () => {
    const { accessKeyId, secretAccessKey } = system.operator;
    const credentials = { accessKeyId, secretAccessKey };
    const abroad = new SQSClient({ region: "us-west-2", endpoint: system.gateway.url, credentials });
    await expect(
      abroad.send(new SendMessageCommand({ QueueUrl, MessageBody: "from afar" })),
    ).resolves.toMatchObject({ MessageId: expect.any(String) });
    abroad.destroy();
  });

  test("a function's signature for another region is refused, naming both", async () => {
    const { accessKeyId, secretAccessKey } = system.caller("traveller");
    const abroad = new DynamoDBClient({
      region: "us-west-2",
      endpoint: system.gateway.url,
      credentials: { accessKeyId, secretAccessKey },
    });
    await expect(abroad.send(new ListTablesCommand())).rejects.toThrow(
      `The credential is scoped to us-west-2; this system's region is ${region}.`,
    );
  });
});

describe("what is not understood", () => {
  const expectDenial = (reason: string) => {
    expect(system.gateway.denials().at(-1)).toMatchObject({
      principal: "operator",
      reason: expect.stringContaining(reason),
    });
  };

  test("is refused with 403 and recorded, for the operator too", async () => {
    const move = sqs.send(new StartMessageMoveTaskCommand({ SourceArn: queueArn }));
    await expect(move).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    expectDenial("does not know the operation sqs:StartMessageMoveTask");
    const execute = dynamodb.send(new ExecuteStatementCommand({ Statement: "SELECT * FROM a" }));
    await expect(execute).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    expectDenial("does not know the operation dynamodb:ExecuteStatement");
  });

  test("is refused if the service itself is unknown", async () => {
    const { operator, gateway } = system;
    const headers = { "x-amz-target": "AWSEvents.PutEvents" };
    const signing = { region, credentials: operator, service: "events", headers, method: "POST" };
    const answer = await signedFetch(new URL(gateway.url), signing);
    const reason = "does not know the service of AWSEvents.PutEvents";
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining(reason) });
    expectDenial(reason);
  });
});

describe("counting", () => {
  test("allowed calls are counted by caller and operation as called; a batch is one call", async () => {
    const caller = system.caller("counted", ["sqs:SendMessage", queueArn]);
    const { sqs } = clients(system, caller);
    const Entries = ["a", "b"].map((Id) => ({ Id, MessageBody: Id }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "c" }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "d" }));
    await expect(sqs.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toThrow();
    const counts = [...system.gateway.calls()].filter(([name]) => name.startsWith("counted "));
    expect(counts).toEqual([
      ["counted sqs:SendMessageBatch", 1],
      ["counted sqs:SendMessage", 2],
    ]);
  });
});

describe("callers inside the runner", () => {
  test("a registered name is checked by its role's policies, and a denial is recorded", () => {
    system.caller("poller", ["sqs:ReceiveMessage", queueArn]);
    expect(system.gateway.authorize("poller", "sqs:ReceiveMessage", queueArn).allowed).toBe(true);
    expect(system.gateway.authorize("poller", "sqs:DeleteMessage", queueArn).allowed).toBe(false);
    expect(system.gateway.denials().at(-1)).toMatchObject({
      principal: "poller",
      action: "sqs:DeleteMessage",
    });
  });
});

describe("engine failures", () => {
  test("an unreachable engine is a 503 with the reason", async () => {
    await expect(dynamodb.send(new DescribeTableCommand({ TableName: "Facts" }))).rejects.toMatchObject({
      name: "ServiceUnavailable",
      message: expect.stringContaining("The local engine does not answer: connect ECONNREFUSED"),
      $metadata: { httpStatusCode: 503 },
    });
  });
});
