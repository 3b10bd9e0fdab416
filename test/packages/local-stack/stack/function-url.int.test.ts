import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedFetch } from "../../../../proof/support/signed-fetch.ts";
import { functionResources } from "../../../support/assembly.ts";
import { started } from "./started.ts";

const echo = `
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  if (event.rawPath === "/throw") throw new Error("no");
  const size = Number(event.queryStringParameters?.size ?? 0);
  const body = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers: {} });
  for (let sent = 0; sent < size; sent += 1e6) body.write(Buffer.alloc(Math.min(1e6, size - sent), "a"));
  body.end();
});`;

const account = "000000000000";
const reader = { name: "reader", arn: `arn:aws:iam::${account}:role/team/reader`, policies: [] };
const other = { name: "other", arn: `arn:aws:iam::${account}:role/other`, policies: [] };

function permissions(principal: string, id: string) {
  const common = { FunctionName: { "Fn::GetAtt": ["Read", "Arn"] }, Principal: principal };
  return {
    [`${id}Url`]: {
      Type: "AWS::Lambda::Permission",
      Properties: { ...common, Action: "lambda:InvokeFunctionUrl", FunctionUrlAuthType: "AWS_IAM" },
    },
    [`${id}Invoke`]: {
      Type: "AWS::Lambda::Permission",
      Properties: { ...common, Action: "lambda:InvokeFunction", InvokedViaFunctionUrl: true },
    },
  };
}

const resources = {
  ...functionResources("Read", { properties: { Timeout: 30 } }),
  Url: {
    Type: "AWS::Lambda::Url",
    Properties: {
      AuthType: "AWS_IAM",
      InvokeMode: "RESPONSE_STREAM",
      TargetFunctionArn: { "Fn::GetAtt": ["Read", "Arn"] },
    },
  },
  ...permissions(reader.arn, "Reader"),
};
const template = { Outputs: { Url: { Value: { "Fn::GetAtt": ["Url", "FunctionUrl"] } } } };

let running: Awaited<ReturnType<typeof started>>;
let url: string;

beforeAll(async () => {
  running = await started({ assets: { Read: echo }, resources, template });
  url = running.stack.outputs.Url ?? "";
});
afterAll(() => running[Symbol.asyncDispose]());

type Caller = Omit<Parameters<LocalStack["gateway"]["register"]>[0], "accessKeyId" | "secretAccessKey">;

function callerOf(caller: Caller) {
  const credentials = {
    accessKeyId: `LOCAL${caller.name.toUpperCase()}000000000`,
    secretAccessKey: "secret",
  };
  running.stack.gateway.register({ ...caller, ...credentials });
  return (path: string, change: Parameters<typeof signedFetch>[1] = {}) =>
    signedFetch(new URL(path, url), { region: running.stack.region, credentials, ...change });
}

describe("a function's URL", () => {
  test("streams more than an answer may hold that is returned whole", async () => {
    const answer = await callerOf(reader)("large?size=7000000");
    expect((await answer.arrayBuffer()).byteLength).toBe(7_000_000);
  });

  test("answers 502 if the function fails before it answers", async () => {
    expect((await callerOf(reader)("throw")).status).toBe(502);
  });

  test("refuses who has no permission of its own or of the function", async () => {
    const answer = await callerOf(other)("v1");
    expect([answer.status, await answer.json()]).toEqual([403, { message: "Forbidden" }]);
  });

  test.each([
    ["without a signature", { unsigned: true }],
    ["signed for another service", { service: "sqs" }],
    ["signed for another region", { region: "us-west-2" }],
    ["signed six minutes ago", { at: new Date(Date.now() - 360_000) }],
    ["whose query was changed after it was signed", { tamper: "?size=1" }],
  ])("refuses a request %s", async (_, change) => {
    expect((await callerOf(reader)("v1", change)).status).toBe(403);
  });
});
