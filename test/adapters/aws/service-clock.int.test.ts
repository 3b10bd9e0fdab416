import { createServer } from "node:http";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, it, onTestFinished } from "vitest";
import { serviceClock } from "../../../adapters/aws/service-clock.ts";

/** A DynamoDB that answers with given dates, one after the other; none: without the header. */
async function clientOf(dates: (string | undefined)[]): Promise<DynamoDBClient> {
  const server = createServer((_, response) => {
    const date = dates.shift();
    response.sendDate = false;
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0", ...(date && { date }) });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  return new DynamoDBClient({
    region: "eu-central-1",
    endpoint: `http://127.0.0.1:${address.port}`,
    credentials,
  });
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

it("the service's clock stays where an answer has no date that can be read", async () => {
  const client = await clientOf([noon, undefined, "soon"]);
  const clock = serviceClock(client);
  for (let answers = 0; answers < 3; answers += 1) await client.send(look);
  expect(clock()).toBe(Date.parse(noon));
});
