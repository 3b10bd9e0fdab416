import { createServer } from "node:http";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterAll, expect, it, onTestFinished, test } from "vitest";
import { leanClient, serviceClock } from "../../../adapters/aws/client.ts";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { singleSender, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import { startTestSystem } from "../../support/engines.ts";

/** A DynamoDB whose answers have these dates in order; undefined: no header. */
async function clientOf(dates: (string | undefined)[]): Promise<DynamoDBClient> {
  const server = createServer((_, response) => {
    const date = dates.shift();
    response.sendDate = false;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0", ...(date && { date }) });
    response.end("{}");
  });
  const endpoint = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => closeServer(server));
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  return new DynamoDBClient({ region: "eu-central-1", endpoint, credentials });
}

const look = new GetItemCommand({ TableName: "t", Key: { pk: { S: "a" }, sk: { S: "b" } } });
const noon = "Tue, 24 Nov 2026 12:00:00 GMT";
const hourBefore = "Tue, 24 Nov 2026 11:00:00 GMT";

it("the service's clock is that of DynamoDB's last answer, whatever the function's own says", async () => {
  const client = await clientOf([noon, hourBefore]);
  const clock = serviceClock(client);
  expect(clock()).toBe(0);
  await client.send(look);
  expect(clock()).toBe(Date.parse(noon));
  await client.send(look);
  expect(clock()).toBe(Date.parse(hourBefore));
});

it("the service's clock is unchanged by an answer without a readable date", async () => {
  const client = await clientOf([noon, undefined, "soon"]);
  const clock = serviceClock(client);
  for (let answers = 0; answers < 3; answers += 1) await client.send(look);
  expect(clock()).toBe(Date.parse(noon));
});

const system = await startTestSystem();
afterAll(() => system.close());

test("concurrent requests of a lean client do not mix, even if one is refused", async () => {
  const client = leanClient(new SQSClient({ ...system.access, maxAttempts: 1 }));
  const queues = await Promise.all(Array.from({ length: 3 }, () => system.createQueue()));
  const sent = queues.map((queue) => Array.from({ length: 20 }, (_, index) => `${queue} ${index}`));
  const senders = [singleSender(client), sqsSender(client)];
  const outcomes = await Promise.all(
    queues.flatMap((queue, place) => [
      ...(sent[place] ?? []).map((body, index) => senders[index % 2]?.(queue, [{ body }])),
      senders[0]?.(`${queue}-that-is-not-there`, [{ body: queue }]),
    ]),
  );
  const failures = outcomes.flatMap((each) => each ?? []);
  expect(failures.filter((failure) => failure === undefined)).toHaveLength(60);
  expect(failures.filter((failure) => failure !== undefined)).toHaveLength(3);
  for (const [place, queue] of queues.entries()) {
    const bodies = (await system.drain(queue)).map(({ Body }) => Body);
    expect(bodies.toSorted()).toEqual(sent[place]?.toSorted());
  }
  client.destroy();
});

const data = {
  items: [
    { id: "b", at: 2 },
    { id: "a", at: 1 },
  ],
};

test.each([
  ["length(items)", 2],
  ["sort_by(items, &at)[0].id", "a"],
  ["items[?starts_with(id, 'b')].at | [0]", 2],
  ["join('-', map(&id, items))", "b-a"],
  ["to_number('7')", 7],
  ["absent || 'instead'", "instead"],
])("evaluates an expression with the language's functions repeatedly: %s", (expression, found) => {
  for (let times = 0; times < 2; times += 1) expect(jmespathSearch(expression, data)).toBe(found);
});

test("an unknown function of the language is a failure that quotes no data", () => {
  const search = () => jmespathSearch("powertools_json(items[0].id)", data);
  expect(search).toThrow(FailureError);
  expect(search).toThrow(/^the expression fails: UnknownFunctionError$/);
});
