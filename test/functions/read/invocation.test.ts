import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { invocationAnswer, readInvocation } from "../../../functions/read/invocation.ts";

const functionArn = "arn:aws:lambda:eu-central-2:111111111111:function:read";
const path = "/v1/accounts/a%2Fb/documents/income?version=7";

it("identifies the reader by the invoked alias, whatever the event names", () => {
  const caller = {
    subscriber: "risk",
    accountId: "222222222222",
    userArn: "arn:aws:iam::222222222222:user/u",
  };
  const event = { path, caller, requestContext: { authorizer: { iam: caller } }, acceptEncoding: "gzip" };
  expect(readInvocation(event, `${functionArn}:billing`)).toEqual({
    method: "GET",
    path: "/v1/accounts/a%2Fb/documents/income",
    query: "version=7",
    headers: { "accept-encoding": "gzip", "if-none-match": undefined },
    caller: { subscriber: "billing" },
    ownAccount: "111111111111",
    documentsUrl: `${functionArn}:billing/`,
  });
});

it("refuses an invocation without an alias, by which nobody is known", () => {
  expect(() => readInvocation({ path }, functionArn)).toThrow("invoke the alias of a subscriber");
});

it("returns bytes as they are, in base64", async () => {
  const answer = { status: 200, headers: { etag: '"e"' }, body: Buffer.from([0, 255]) };
  expect(await invocationAnswer(answer)).toEqual({ status: 200, headers: { etag: '"e"' }, body: "AP8=" });
});

it("answers 413 if Lambda would refuse the answer", async () => {
  const fits = { status: 200, headers: {}, body: randomBytes(4_700_000) };
  expect(await invocationAnswer(fits)).toMatchObject({ status: 200 });
  const { status, body } = await invocationAnswer({ ...fits, body: randomBytes(4_710_000) });
  expect([status, JSON.parse(Buffer.from(body, "base64").toString()).type]).toEqual([
    413,
    "urn:income-events:problem:too-large",
  ]);
});

it("fails if the stage failed, which CloudWatch counts", async () => {
  await expect(invocationAnswer({ status: 503, headers: {} })).rejects.toThrow("answered 503");
});
