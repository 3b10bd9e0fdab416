import { describe, expect, it } from "vitest";
import { unreadDocuments } from "../../domain/message/document-reference.ts";
import { nameOf, productionSettings, synthesized } from "./synthesized.ts";
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

describe("reading by invocation", () => {
  const principals = ["210987654321", `${account}:root`, `${account}:role/a`];
  const subscribers = [{ name: "everything" }, { name: "risk-team", principals }];
  const stack = synthesized({ ...productionSettings, subscribers, reading: "invoke" });

  it("gives each subscriber an alias of the function, whose policy names the subscriber's principals alone", () => {
    expect(stack.ofType("AWS::Lambda::Url")).toEqual([]);
    const aliases = stack.ofType("AWS::Lambda::Alias");
    expect(aliases.map(({ Properties }) => [Properties.Name, Properties.FunctionVersion])).toEqual([
      ["everything", "$LATEST"],
      ["risk-team", "$LATEST"],
    ]);
    const ids = aliases.map(({ id }) => id);
    const admitted = stack.ofType("AWS::Lambda::Permission").flatMap(({ Properties }) => {
      const id = String(Object(Properties.FunctionName).Ref);
      return ids.includes(id) ? [[nameOf(id), Properties.Action, Properties.Principal]] : [];
    });
    expect(admitted).toEqual(
      ["210987654321", "210987654321", `${account}:role/a`].map((principal) => [
        "ReadAliasRiskTeam",
        "lambda:InvokeFunction",
        principal,
      ]),
    );
  });

  it("counts reads that fail as errors of the function", () => {
    const metrics = stack
      .ofType("AWS::CloudWatch::Alarm")
      .flatMap(({ id, Properties }) => (id.startsWith("ReadFailing") ? [Properties.MetricName] : []));
    expect(metrics).toEqual(["Errors"]);
  });

  it("refuses more principals than the policy of an alias has room for", () => {
    const many = Array.from({ length: 39 }, (_, index) => `${account}:role/${index}`);
    const settings = { ...productionSettings, subscribers: [{ name: "risk", principals: many }] };
    expect(() => synthesized({ ...settings, reading: "invoke" })).toThrow("has 39 principals");
    expect(() => synthesized(settings)).not.toThrow();
  });
});

it("creates no read function if messages contain the documents, and the relay fails those that do not fit", () => {
  const subscribers = [{ name: "billing", documents: "inline" }];
  const stack = synthesized({ ...productionSettings, subscribers, reading: "none" });
  expect(stack.resources.filter(({ id }) => id.startsWith("Read"))).toEqual([]);
  expect(Object.keys(stack.outputs)).not.toContain("DocumentsFunctionArn");
  const { Environment } = stack.withId("RelayChangesFunction").Properties;
  expect(Object(Environment).Variables).toMatchObject({ DOCUMENTS_URL: unreadDocuments });
});
