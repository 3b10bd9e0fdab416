import { request } from "node:http";
import {
  DescribeTableCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import { GetCallerIdentityCommand, GetSessionTokenCommand } from "@aws-sdk/client-sts";
import type { Principal } from "@income-events/local-stack/gateway/types.ts";
import { afterAll, describe, expect, test } from "vitest";
import { signedFetch } from "../../../../proof/support/signed-fetch.ts";
import { account, clients, createQueue, queueArn, region, startLocalSystem } from "./local-system.ts";

const system = await startLocalSystem();
afterAll(() => system.close());
const { sqs, dynamodb } = clients(system, system.operator);
const QueueUrl = await createQueue(system, "work");

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
});

test("a function's signature for another region is refused, naming both; the operator's tools may use any", async () => {
  const abroad = ({ accessKeyId, secretAccessKey }: Principal) =>
    new DynamoDBClient({
      region: "us-west-2",
      endpoint: system.gateway.url,
      credentials: { accessKeyId, secretAccessKey },
    }).send(new ListTablesCommand());
  await expect(abroad(system.caller("traveller"))).rejects.toThrow(
    `The credential is scoped to us-west-2; this system's region is ${region}.`,
  );
  await expect(abroad(system.operator)).rejects.toThrow("The local engine does not answer");
});

test("who calls is answered to everybody, and nothing else of STS", async () => {
  const theirs = { ...system.caller("theirs"), arn: "arn:aws:iam::210987654321:role/theirs" };
  system.gateway.register(theirs);
  for (const [caller, Account] of [
    [system.operator, account],
    [theirs, "210987654321"],
  ] as const) {
    const answer = await clients(system, caller).sts.send(new GetCallerIdentityCommand({}));
    expect(answer).toMatchObject({ Account, Arn: caller.arn });
  }
  const other = clients(system, system.operator).sts.send(new GetSessionTokenCommand({}));
  await expect(other).rejects.toThrow("The local gateway does not know the STS operation");
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

describe("engine failures", () => {
  test("an unreachable engine is a 503 with the reason", async () => {
    await expect(dynamodb.send(new DescribeTableCommand({ TableName: "Facts" }))).rejects.toMatchObject({
      name: "ServiceUnavailable",
      message: expect.stringContaining("The local engine does not answer: connect ECONNREFUSED"),
      $metadata: { httpStatusCode: 503 },
    });
  });
});
