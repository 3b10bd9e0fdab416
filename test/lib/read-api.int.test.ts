import { describe, expect, it } from "vitest";
import { production, targetOf } from "./synthesized-stages.ts";

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

  it("admits each principal of a subscriber with both permissions, through the URL alone", () => {
    const admitted = production
      .ofType("AWS::Lambda::Permission")
      .filter(({ Properties }) => targetOf(Properties.FunctionName) === "ReadDocumentsFunction");
    expect(admitted.map(({ Properties: { FunctionName: _, ...others } }) => others)).toEqual([
      { Action: "lambda:InvokeFunctionUrl", FunctionUrlAuthType: "AWS_IAM", Principal: "210987654321" },
      { Action: "lambda:InvokeFunction", InvokedViaFunctionUrl: true, Principal: "210987654321" },
    ]);
  });
});
