import { expect, it } from "vitest";
import { readHttpRequest } from "../../../functions/read/http-request.ts";

const functionArn = "arn:aws:lambda:eu-central-1:111111111111:function:read";
const event = (context: object) => ({
  rawPath: "/v1/users/u",
  rawQueryString: "",
  headers: { host: "abc.lambda-url.eu-central-1.on.aws" },
  requestContext: {
    apiId: "abc",
    domainName: "abc.lambda-url.eu-central-1.on.aws",
    http: { method: "GET" },
    authorizer: { iam: { accountId: "222222222222", userArn: "arn:aws:iam::222222222222:user/u" } },
    ...context,
  },
});

it("reads the caller, the account and the address of an event of the function's URL", () => {
  expect(readHttpRequest(event({}), functionArn)).toMatchObject({
    caller: { accountId: "222222222222", userArn: "arn:aws:iam::222222222222:user/u" },
    ownAccount: "111111111111",
    documentsUrl: "https://abc.lambda-url.eu-central-1.on.aws/",
  });
});

it.each([
  ["of an API", { domainName: "abc.execute-api.eu-central-1.amazonaws.com" }],
  ["of another region's URL", { domainName: "abc.lambda-url.us-east-1.on.aws" }],
  ["whose id is another's", { apiId: "xyz" }],
  ["without an address", { domainName: undefined }],
  ["without an id", { apiId: undefined }],
  ["without a signer", { authorizer: {} }],
])("refuses an event %s: it did not come by the function's URL", (_, context) => {
  expect(() => readHttpRequest(event(context), functionArn)).toThrow();
});
