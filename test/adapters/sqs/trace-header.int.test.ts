import { createServer } from "node:http";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { expect, it, vi } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching-writer.ts";
import { linkTable } from "../../../adapters/dynamodb/links.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";

const trace = "Root=1-5e6722a7-cc2ae14db7ae98d0da47aeab;Parent=53995c3f42cd8ad8;Sampled=1";

it("the trace of an invocation goes along with each call to AWS, for SQS to carry it on", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "test");
  vi.stubEnv("_X_AMZN_TRACE_ID", trace);
  const seen: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers["x-amzn-trace-id"]);
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end('{"Responses":[{}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const access = {
    endpoint,
    region: "eu-central-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  };
  await sqsSender(new SQSClient(access))(`${endpoint}/000000000000/queue`, [{ body: "{}" }]);
  await linkTable(batchingWriter(new DynamoDBClient(access), "table"))("user", "account");
  server.closeAllConnections();
  server.close();
  vi.unstubAllEnvs();
  expect(seen).toEqual([trace, trace]);
});
