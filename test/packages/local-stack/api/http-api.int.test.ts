import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiResources, functionResources } from "../../../support/assembly.ts";
import { started } from "../stack/started.ts";

/** More than the other tests request of one route. */
const burst = 50;

let running: AsyncDisposable;
let stack: LocalStack;
let url: string;

beforeAll(async () => {
  const {
    Permission5: _,
    Integration8,
    ...api
  } = apiResources({
    "POST /echo": "Echo",
    "ANY /echo": "Echo",
    "GET /fails": "Fails",
    "GET /slow": "Slow",
    "GET /busy": "Busy",
    "GET /forbidden": "Echo",
    "GET /address": "Address",
    "GET /flooded": "Echo",
    "GET /late": "Slow",
  });
  const whole = await started({
    assets: {
      Echo: `export const handler = async (event) => ({ statusCode: 200, headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: event.routeKey, length: event.body?.length, headers: event.headers }) });`,
      Fails: "export const handler = async () => { throw new Error('secret detail'); };",
      Slow: "export const handler = () => new Promise(() => {});",
      Busy: "export const handler = () => null;",
      Address: "export const handler = () => ({ url: process.env.API_URL });",
    },
    resources: {
      ...functionResources("Echo"),
      ...functionResources("Fails"),
      ...functionResources("Slow", { properties: { Timeout: 1 } }),
      ...functionResources("Busy", { properties: { ReservedConcurrentExecutions: 0 } }),
      ...functionResources("Address", {
        environment: {
          API_URL: { "Fn::Sub": `https://\${Api}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/webhooks` },
        },
      }),
      ...api,
      Integration8: {
        Type: "AWS::ApiGatewayV2::Integration",
        Properties: { ...Integration8?.Properties, TimeoutInMillis: 50 },
      },
      Stage: {
        Type: "AWS::ApiGatewayV2::Stage",
        Properties: {
          ApiId: { Ref: "Api" },
          StageName: "$default",
          AutoDeploy: true,
          DefaultRouteSettings: { ThrottlingBurstLimit: burst, ThrottlingRateLimit: 0.001 },
        },
      },
    },
  });
  ({ stack } = whole);
  running = whole;
  url = stack.apiUrl ?? "";
});

afterAll(() => running[Symbol.asyncDispose]());

const post = (body: string, headers: Record<string, string> = { "content-type": "text/plain" }) =>
  fetch(`${url}/echo`, { method: "POST", body, headers });

describe("the HTTP API", () => {
  test("answers 404 if no route matches", async () => {
    const answer = await fetch(`${url}/nowhere`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ message: "Not Found" });
  });

  test("answers 429 to throttled requests of a route, without affecting other routes", async () => {
    const asked = Array.from({ length: burst + 2 }, () => fetch(`${url}/flooded`));
    const answers = await Promise.all(asked);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(burst);
    expect(await Promise.all(refused.map((answer) => answer.json()))).toEqual(
      [1, 2].map(() => ({ message: "Too Many Requests" })),
    );
    expect((await post("abc")).status).toBe(200);
  });

  test("answers 413 to a body over 10 MB, and to one whose event exceeds Lambda's limit", async () => {
    const expected = { message: "Request Entity Too Large" };
    const overApi = await post("x".repeat(10 * 1024 * 1024 + 1));
    expect([overApi.status, await overApi.json()]).toEqual([413, expected]);
    const overLambda = await post("x".repeat(6_291_556));
    expect([overLambda.status, await overLambda.json()]).toEqual([413, expected]);
    expect((await post("x".repeat(6_280_000))).status).toBe(200);
  });

  test.each([
    ["a function that fails", "/fails", 500, "Internal Server Error"],
    ["a function that times out", "/slow", 500, "Internal Server Error"],
    ["a function that is throttled", "/busy", 503, "Service Unavailable"],
    ["an integration that is not done in its time", "/late", 503, "Service Unavailable"],
  ])("answers for %s without any detail", async (_, path, status, message) => {
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, await answer.json()]).toEqual([status, { message }]);
  });

  test("calls a function only by a route that has a permission", async () => {
    expect((await fetch(`${url}/forbidden`)).status).toBe(500);
    expect(stack.problems().denials).toContainEqual({
      principal: "apigateway.amazonaws.com",
      action: "lambda:InvokeFunction",
      resource: "arn:aws:lambda:eu-central-1:000000000000:function:Echo",
      reason: expect.stringContaining("no policy allows"),
    });
  });

  test("stands at its local address wherever the template builds its address in AWS", async () => {
    expect(await (await fetch(`${url}/address`)).json()).toEqual({ url: `${url}/webhooks` });
  });
});
