import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import { faultClasses, type Mode, modes, parts } from "../../../proof/chaos/faults/fault-classes.ts";
import { modesOf, playFault } from "../../../proof/chaos/faults/play-fault.ts";
import { type ObservedCall, observedCall } from "../../../proof/chaos/observed-call.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";

const call = (part: ObservedCall["part"], action: string): ObservedCall => ({
  function: "F",
  part,
  action,
  name: action,
  isFromFunction: true,
  body: Buffer.from("{}"),
});

it("every class of faults can be met by some call", () => {
  const calls = [
    call("sqs", "sqs:SendMessageBatch"),
    call("dynamodb", "dynamodb:Query"),
    call("stream", "dynamodb:GetRecords"),
    call("secrets", "secretsmanager:GetSecretValue"),
    call("s3", "s3:GetObject"),
    call("provider", "GET"),
  ];
  expect(calls.flatMap((each) => modesOf(each).map((mode) => `${each.part} ${mode}`))).toEqual(faultClasses);
  expect(faultClasses).toHaveLength(parts.length * modes.length);
});

it("each service throttles in words of its own", async () => {
  const words = await Promise.all(parts.map((part) => playFault(call(part, ""), part, "throttles")));
  expect(words).toMatchObject([
    { status: 403, errorType: "RequestThrottled" },
    { status: 400, errorType: "ThrottlingException" },
    { status: 400, errorType: "ThrottlingException" },
    { status: 400, errorType: "ThrottlingException" },
    { status: 503, errorType: "SlowDown" },
    { status: 429 },
  ]);
});

await describeOnTables("faults of engines", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
    for (const sk of ["1", "2", "3"]) {
      await system.dynamodb.send(
        new PutItemCommand({ TableName: table.name, Item: marshall({ pk: "p", sk }) }),
      );
    }
  });
  afterAll(() => system.close());

  async function meeting<T>(mode: Mode, work: () => Promise<T>): Promise<T> {
    const stop = system.intercept(async (seen, phase) => {
      const observed = observedCall(seen, () => "F");
      if (phase === "after" || observed?.part === undefined) return undefined;
      return playFault({ ...observed, isFromFunction: true }, observed.part, mode);
    });
    return work().finally(stop);
  }

  it("a batch of messages is done but for its last, which is named as failed", async () => {
    const QueueUrl = await system.createQueue();
    const send = (bodies: readonly string[]) =>
      system.sqs.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: bodies.map((MessageBody, index) => ({ Id: `n${index}`, MessageBody })),
        }),
      );
    const some = await meeting("answers-partly", () => send(["a", "b", "c"]));
    expect(some.Failed).toMatchObject([{ Id: "n2" }]);
    expect(some.Successful).toHaveLength(2);
    const none = await meeting("answers-partly", () => send(["d"]));
    expect(none.Failed).toMatchObject([{ Id: "n0" }]);
    expect((await system.drain(QueueUrl)).map(({ Body }) => Body).toSorted()).toEqual(["a", "b"]);
  });

  it("a batch of keys is read but for its last, which is left unprocessed", async () => {
    const Keys = ["1", "2"].map((sk) => marshall({ pk: "p", sk }));
    const read = (keys: typeof Keys) =>
      system.dynamodb.send(new BatchGetItemCommand({ RequestItems: { [table.name]: { Keys: keys } } }));
    const some = await meeting("answers-partly", () => read(Keys));
    expect(some.Responses?.[table.name]).toEqual([marshall({ pk: "p", sk: "1" })]);
    expect(some.UnprocessedKeys?.[table.name]?.Keys).toEqual([marshall({ pk: "p", sk: "2" })]);
    const none = await meeting("answers-partly", () => read(Keys.slice(0, 1)));
    expect(none.UnprocessedKeys?.[table.name]?.Keys).toHaveLength(1);
  });

  it("a batch of statements is applied but for its last, which is throttled", async () => {
    const insert = (sk: string) => ({
      Statement: `INSERT INTO "${table.name}" VALUE {'pk': 'statements', 'sk': ?}`,
      Parameters: [{ S: sk }],
    });
    const codes = async (Statements: ReturnType<typeof insert>[]) =>
      (await system.dynamodb.send(new BatchExecuteStatementCommand({ Statements }))).Responses?.map(
        (each) => each.Error?.Code,
      );
    const some = await meeting("answers-partly", () => codes([insert("1"), insert("2")]));
    expect(some).toEqual([undefined, "ThrottlingError"]);
    expect(await codes([insert("1"), insert("2")])).toEqual(["DuplicateItem", undefined]);
  });

  it("a page ends after one item", async () => {
    const query = new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: marshall({ ":pk": "p" }),
    });
    const { Items, LastEvaluatedKey } = await meeting("answers-partly", () => system.dynamodb.send(query));
    expect(Items).toHaveLength(1);
    expect(LastEvaluatedKey).toBeDefined();
  });
});
