import { createHash } from "node:crypto";
import { request } from "node:http";
import { createServer } from "node:net";
import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { startGateway } from "@income-events/local-stack/gateway/gateway.ts";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { account, clients, type LocalSystem, region, signedCall, startLocalSystem } from "./local-system.ts";

let system: LocalSystem;
let QueueUrl: string;
const queueArn = `arn:aws:sqs:${region}:${account}:work`;

beforeAll(async () => {
  system = await startLocalSystem();
  const { sqs } = clients(system, system.operator);
  QueueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: "work" }))).QueueUrl ?? "";
});

afterAll(async () => {
  await system.close();
});

async function received(): Promise<(string | undefined)[]> {
  const { sqs } = clients(system, system.operator);
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  return Messages.map(({ Body }) => Body);
}

/** What the client checks an answer by. */
function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

describe("identity", () => {
  test("a call without a signature is refused", async () => {
    const status = await new Promise((resolve, reject) => {
      request(system.gateway.url, { method: "POST" }, (answer) => resolve(answer.resume().statusCode))
        .on("error", reject)
        .end("{}");
    });
    expect(status).toBe(403);
  });

  test("an unknown access key is refused", async () => {
    const unknown = { ...system.operator, accessKeyId: "AKIAUNKNOWNUNKNOWN00" };
    await expect(
      clients(system, unknown).sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })),
    ).rejects.toMatchObject({ name: "UnrecognizedClientException" });
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

  test("two callers can't share an access key", () => {
    expect(() => system.gateway.register({ ...system.operator, name: "twin" })).toThrow(
      "twin and operator have the same access key id",
    );
  });
});

describe("what is not understood", () => {
  test.each([
    ["events", "AWSEvents.PutEvents", "does not know the service of AWSEvents.PutEvents"],
    ["sqs", "AmazonSQS.StartMessageMoveTask", "does not know the operation sqs:StartMessageMoveTask"],
    [
      "dynamodb",
      "DynamoDB_20120810.ExecuteStatement",
      "does not know the operation dynamodb:ExecuteStatement",
    ],
    ["logs", "Logs_20140328.PutLogEvents", "has no log service"],
  ])("%s %s is refused with 403 and recorded, for the operator too", async (service, target, reason) => {
    const answer = await signedCall(system, system.operator, { service, target }, {});
    expect(answer).toMatchObject({ status: 403, content: { message: expect.stringContaining(reason) } });
    expect(system.gateway.denials().at(-1)).toMatchObject({
      principal: "operator",
      reason: expect.stringContaining(reason),
    });
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
    await received();
  });
});

describe("interceptors", () => {
  async function intercepted(interceptor: Interceptor, action: () => Promise<unknown>): Promise<unknown> {
    const stop = system.gateway.intercept(interceptor);
    try {
      return await action();
    } finally {
      stop();
    }
  }

  const onSend =
    (moment: "before" | "after", outcome: Awaited<ReturnType<Interceptor>>): Interceptor =>
    async (call, at) =>
      call.action === "sqs:SendMessage" && at === moment ? outcome : undefined;
  const throttled = { status: 400, errorType: "ThrottlingException", message: "Slow down" };
  const send = (body: string, options: { abortSignal?: AbortSignal } = {}) =>
    clients(system, system.operator).sqs.send(
      new SendMessageCommand({ QueueUrl, MessageBody: body }),
      options,
    );

  test("a fault before the engine: the client sees it and nothing happened", async () => {
    await intercepted(onSend("before", throttled), () =>
      expect(send("never")).rejects.toMatchObject({ name: "ThrottlingException", message: "Slow down" }),
    );
    expect(await received()).toEqual([]);
  });

  test("a fault after the engine: the client sees it though it happened", async () => {
    await intercepted(onSend("after", throttled), () =>
      expect(send("sent after all")).rejects.toMatchObject({ name: "ThrottlingException" }),
    );
    expect(await received()).toEqual(["sent after all"]);
  });

  test("a dropped connection after the engine: the client sees a broken connection though it happened", async () => {
    await intercepted(onSend("after", "drop"), () =>
      expect(send("dropped")).rejects.toMatchObject({ code: "ECONNRESET" }),
    );
    expect(await received()).toEqual(["dropped"]);
  });

  test("a hanging call is never answered and never reaches the engine", async () => {
    const isHanging = Promise.withResolvers<void>();
    const hang: Interceptor = async (call, moment) => {
      if (call.action !== "sqs:SendMessage" || moment !== "before") return undefined;
      isHanging.resolve();
      return "hang";
    };
    await intercepted(hang, async () => {
      const abort = new AbortController();
      const sending = send("hangs", { abortSignal: abort.signal });
      await isHanging.promise;
      abort.abort();
      await expect(sending).rejects.toMatchObject({ name: "AbortError" });
    });
    expect(await received()).toEqual([]);
  });

  test("they see who calls what on which resource, and stop when removed", async () => {
    const seen: Call[] = [];
    await intercepted(
      async (call, moment) => {
        if (moment === "before") seen.push(call);
        return undefined;
      },
      () => send("seen"),
    );
    await send("unseen");
    expect(seen).toEqual([
      {
        id: expect.any(Number),
        principal: "operator",
        service: "sqs",
        action: "sqs:SendMessage",
        resources: [queueArn],
        isFromFunction: false,
        body: expect.any(Buffer),
      },
    ]);
    expect(JSON.parse(String(seen[0]?.body))).toEqual({ QueueUrl, MessageBody: "seen" });
    await received();
  });

  test("a function's own calls are told from those that Lambda makes in its name, by their session", async () => {
    const seen: boolean[] = [];
    const see: Interceptor = async ({ isFromFunction }) => void seen.push(isFromFunction);
    const client = new SQSClient({
      region,
      endpoint: system.gateway.url,
      credentials: { ...system.operator, sessionToken: "local" },
    });
    await intercepted(see, () =>
      client.send(new SendMessageCommand({ QueueUrl, MessageBody: "of a function" })),
    );
    await intercepted(see, () => send("of Lambda"));
    expect(seen).toEqual([true, true, false, false]);
    await received();
  });

  test("a detour sends a call twice, or another body, and changes the answer", async () => {
    await intercepted(onSend("before", { times: 2 }), () => send("twice"));
    expect(await received()).toEqual(["twice", "twice"]);
    const MessageBody = "another";
    const answer = (text: string) =>
      JSON.stringify({ ...JSON.parse(text), MD5OfMessageBody: md5("one"), MessageId: "1" });
    const other = onSend("before", { body: JSON.stringify({ QueueUrl, MessageBody }), answer });
    expect(await intercepted(other, () => send("one"))).toMatchObject({ MessageId: "1" });
    expect(await received()).toEqual(["another"]);
  });

  test("a detour without a call answers by itself", async () => {
    const made = JSON.stringify({ MessageId: "made", MD5OfMessageBody: md5("never") });
    const alone = onSend("before", { times: 0, answer: () => made });
    expect(await intercepted(alone, () => send("never"))).toMatchObject({ MessageId: "made" });
    expect(await received()).toEqual([]);
  });

  test.each(["before", "after"] as const)(
    "an answer that is cut (%s) breaks off in its middle, though it happened",
    async (moment) => {
      await intercepted(onSend(moment, "cut"), () =>
        expect(send("cut")).rejects.toMatchObject({ message: expect.stringContaining("aborted") }),
      );
      expect(await received()).toEqual(["cut"]);
    },
  );
});

describe("callers inside the runner", () => {
  test("a registered name is asked with its role's policies, and a refusal is recorded", () => {
    system.caller("poller", ["sqs:ReceiveMessage", queueArn]);
    expect(system.gateway.authorize("poller", "sqs:ReceiveMessage", queueArn).allowed).toBe(true);
    expect(system.gateway.authorize("poller", "sqs:DeleteMessage", queueArn).allowed).toBe(false);
    expect(system.gateway.denials().at(-1)).toMatchObject({
      principal: "poller",
      action: "sqs:DeleteMessage",
    });
  });

  test("a service is asked with the resource policy and its source", () => {
    const arn = `arn:aws:sqs:${region}:${account}:scheduled`;
    const rule = `arn:aws:events:${region}:${account}:rule/tick`;
    const statement = {
      Effect: "Allow",
      Principal: { Service: "events.amazonaws.com" },
      Action: "sqs:SendMessage",
      Resource: arn,
      Condition: { ArnEquals: { "aws:SourceArn": rule } },
    };
    system.gateway.setResourcePolicy(arn, parsePolicy({ Statement: [statement] }, "schedule queue"));
    const ask = (source: string) =>
      system.gateway.authorize("events.amazonaws.com", "sqs:SendMessage", arn, { "aws:SourceArn": source })
        .allowed;
    expect([ask(rule), ask(`${rule}2`)]).toEqual([true, false]);
  });
});

describe("what goes wrong around it", () => {
  test("an engine that is not there is a 503 that says so", async () => {
    await expect(
      clients(system, system.operator).dynamodb.send(new DescribeTableCommand({ TableName: "Facts" })),
    ).rejects.toMatchObject({
      name: "ServiceUnavailable",
      message: expect.stringContaining("The local engine does not answer: connect ECONNREFUSED"),
      $metadata: { httpStatusCode: 503 },
    });
  });

  test("a port in use is named with the remedy", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => holder.once("listening", resolve));
    const address = holder.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const starting = startGateway({
      port,
      region,
      account,
      dynamodbUrl: "http://127.0.0.1:1",
      sqsUrl: "http://127.0.0.1:1",
      s3Url: "http://127.0.0.1:1",
      secrets: system.secrets,
    });
    await expect(starting).rejects.toThrow(
      `Port ${port} is in use, so the gateway can't listen on it: choose another`,
    );
    await new Promise((resolve) => holder.close(resolve));
  });
});
