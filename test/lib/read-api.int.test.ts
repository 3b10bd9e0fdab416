import { describe, expect, it } from "vitest";
import { productionSettings, synthesized } from "./synthesized.ts";
import { production, targetOf } from "./synthesized-stages.ts";

const account = "arn:aws:iam::210987654321";

describe("the read API", () => {
  it("is a function's URL that knows its callers, and streams", () => {
    expect(production.ofType("AWS::Lambda::Url").map(({ Properties }) => Properties)).toMatchObject([
      { AuthType: "AWS_IAM", InvokeMode: "RESPONSE_STREAM" },
    ]);
  });

  it("has time for the largest answer that Lambda streams: 200 MB, after the first 6 MB 2 MB a second", () => {
    const { Timeout } = production.withId("ReadDocumentsFunction").Properties;
    expect(6 + 2 * Number(Timeout)).toBeGreaterThanOrEqual(200);
  });

  it.each([
    ["an account", ["210987654321"]],
    [
      "roles of an account, of which each may be made anew",
      ["a", "b"].map((name) => `${account}:role/${name}`),
    ],
  ])("admits %s with both permissions, through the URL alone", (_, principals) => {
    const stack = synthesized({ ...productionSettings, subscribers: [{ name: "risk", principals }] });
    const admitted = stack
      .ofType("AWS::Lambda::Permission")
      .filter(({ Properties }) => targetOf(Properties.FunctionName) === "ReadDocumentsFunction");
    expect(admitted.map(({ Properties: { FunctionName: _name, ...others } }) => others)).toEqual([
      { Action: "lambda:InvokeFunctionUrl", FunctionUrlAuthType: "AWS_IAM", Principal: "210987654321" },
      { Action: "lambda:InvokeFunction", InvokedViaFunctionUrl: true, Principal: "210987654321" },
    ]);
  });
});
