import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { startStack } from "@income-events/local-stack/stack.ts";
import { expect, test } from "vitest";
import {
  apiResources,
  functionResources,
  mappingResource,
  packageUrl,
  queueResource,
  readingStreams,
  receiving,
  tableResource,
  writeAssembly,
} from "../../../support/assembly.ts";
import { operatorClients } from "./operator-clients.ts";

const take = `
import { SQSClient, SendMessageCommand } from ${JSON.stringify(packageUrl("@aws-sdk/client-sqs"))};
const sqs = new SQSClient({});
export async function handler(event) {
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody: event.body }));
  return { statusCode: 202 };
}`;
const put = (key: string, bodyOf: string) => `
import { DynamoDBClient, PutItemCommand } from ${JSON.stringify(packageUrl("@aws-sdk/client-dynamodb"))};
const dynamodb = new DynamoDBClient({});
export async function handler({ Records }) {
  for (const record of Records) {
    const Item = { pk: { S: ${JSON.stringify(key)} }, sk: { S: ${bodyOf} } };
    await dynamodb.send(new PutItemCommand({ TableName: process.env.TABLE_NAME, Item }));
  }
}`;

test("what was synthesized runs: API, function, queue, function, table, stream, function, table", async () => {
  await using assembly = await writeAssembly({
    assets: {
      Take: take,
      Store: put("stored", "record.body"),
      Follow: put("followed", "record.dynamodb.Keys.sk.S"),
    },
    resources: {
      ...queueResource("Work"),
      ...tableResource("Items"),
      ...functionResources("Take", {
        environment: { QUEUE_URL: { Ref: "Work" } },
        allow: [["sqs:SendMessage", { "Fn::GetAtt": ["Work", "Arn"] }]],
      }),
      ...functionResources("Store", {
        environment: { TABLE_NAME: { Ref: "Items" } },
        allow: [receiving("Work"), ["dynamodb:PutItem", { "Fn::GetAtt": ["Items", "Arn"] }]],
      }),
      ...functionResources("Follow", {
        environment: { TABLE_NAME: { Ref: "Items" } },
        allow: [readingStreams, ["dynamodb:PutItem", { "Fn::GetAtt": ["Items", "Arn"] }]],
      }),
      ...mappingResource("FromWork", ["Work", "Arn"], "Store"),
      ...mappingResource("FromItems", ["Items", "StreamArn"], "Follow", {
        StartingPosition: "TRIM_HORIZON",
        FilterCriteria: { Filters: [{ Pattern: '{"dynamodb":{"Keys":{"pk":{"S":["stored"]}}}}' }] },
      }),
      ...apiResources({ "POST /take": "Take" }),
    },
    template: { Outputs: { Url: { Value: { "Fn::GetAtt": ["Api", "ApiEndpoint"] } } } },
  });
  const stack = await startStack({ assembly: assembly.directory });
  try {
    const sent = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, "0")}`);
    const answers = await Promise.all(
      sent.map((body) =>
        fetch(`${stack.outputs.Url}/take`, {
          method: "POST",
          body,
          headers: { "content-type": "text/plain" },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 202));
    await stack.drained({ deadline: 120_000 });
    using clients = operatorClients(stack);
    const { Items = [] } = await clients.dynamodb.send(new ScanCommand({ TableName: "Items" }));
    const keys = Items.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`).sort();
    expect(keys).toEqual([
      ...sent.map((body) => `followed ${body}`),
      ...sent.map((body) => `stored ${body}`),
    ]);
    expect(stack.problems()).toEqual({ denials: [], initErrors: [], failures: [] });
    expect(stack.statusCounts()).toEqual(new Map([[202, 25]]));
  } finally {
    await stack.close();
  }
});
