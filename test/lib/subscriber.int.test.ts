import { Stack } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import * as iam from "aws-cdk-lib/aws-iam";
import { describe, expect, it } from "vitest";
import { appWith, propertiesOf } from "./synthesized.ts";

const minimal = { production: false, subscribers: [{ name: "billing" }] };

const reader = (stack: Stack) => new iam.Role(stack, "Reader", { assumedBy: new iam.AccountRootPrincipal() });

type Statement = { readonly Action: string | readonly string[]; readonly Resource: object };

/** Statements of a role's policy. */
function statementsOf(template: Template, role: string): readonly Statement[] {
  return propertiesOf(template, "AWS::IAM::Policy", role)[0].PolicyDocument.Statement;
}

describe("a grant of a subscriber", () => {
  it("grants a role what its subscriber needs to consume and to read documents, and nothing else", () => {
    const template = appWith((stack, add) => {
      const role = reader(stack);
      const subscriber = add("Events", minimal).subscriber("billing");
      subscriber.grantConsume(role);
      subscriber.grantReadDocuments(role);
    });
    const statements = statementsOf(template, "Reader");
    expect(statements.map(({ Action }) => [Action].flat().toSorted())).toEqual([
      [
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sqs:ReceiveMessage",
      ],
      ["lambda:InvokeFunction"],
      ["lambda:InvokeFunctionUrl"],
      ["lambda:InvokeFunction"],
    ]);
    expect(JSON.stringify(statements[0]?.Resource)).toMatch(/EventsSubscriberBillingQueue/);
    for (const { Resource } of statements.slice(1))
      expect(JSON.stringify(Resource)).toMatch(/EventsReadDocumentsFunction/);
  });

  it("lets a role that reads documents invoke the function by its URL alone, whatever else the role may do", () => {
    const template = appWith((stack, add) => {
      add("Events", minimal).subscriber("billing").grantReadDocuments(reader(stack));
    });
    const invoking = statementsOf(template, "Reader").filter(
      ({ Action }) => Action === "lambda:InvokeFunction",
    );
    expect(invoking).toMatchObject([
      { Effect: "Deny", Condition: { BoolIfExists: { "lambda:InvokedViaFunctionUrl": "false" } } },
      { Effect: "Allow", Condition: { Bool: { "lambda:InvokedViaFunctionUrl": "true" } } },
    ]);
  });

  it("lets a role invoke only the alias of its subscriber, if documents are read that way", () => {
    const template = appWith((stack, add) => {
      add("Events", { ...minimal, reading: "invoke" })
        .subscriber("billing")
        .grantReadDocuments(reader(stack));
    });
    const [only, ...others] = statementsOf(template, "Reader");
    expect([only?.Action, others]).toEqual(["lambda:InvokeFunction", []]);
    expect(JSON.stringify(only?.Resource)).toMatch(/EventsReadDocumentsFunction[^:]+","Arn"]},":billing"/);
  });

  it("grants no reading if messages contain the documents", () => {
    appWith((stack, add) => {
      const subscribers = [{ name: "billing", documents: "inline" }];
      const billing = add("Events", { ...minimal, subscribers, reading: "none" }).subscriber("billing");
      expect(() => billing.grantReadDocuments(reader(stack))).toThrow("messages hold them");
    });
  });

  it("binds each role to the subscriber that it reads for, also to one that names principals", () => {
    const template = appWith((stack, add) => {
      const events = add("Events", {
        production: false,
        subscribers: [{ name: "billing" }, { name: "risk", principals: ["210987654321"] }],
      });
      const role = reader(stack);
      events.subscriber("billing").grantReadDocuments(role);
      events.subscriber("billing").grantReadDocuments(role);
      const elsewhere = new Stack(stack, "Elsewhere");
      const props = { assumedBy: new iam.AccountRootPrincipal(), roleName: "known" };
      events.subscriber("risk").grantReadDocuments(new iam.Role(elsewhere, "Known", props));
      const user = iam.User.fromUserArn(stack, "User", "arn:aws:iam::123456789012:user/reader");
      events.subscriber("risk").grantReadDocuments(user);
    });
    const [reads] = propertiesOf(template, "AWS::Lambda::Function", "EventsReadDocuments");
    const variable = reads.Environment.Variables.GRANTED_READERS;
    const parts: readonly unknown[] = variable["Fn::Join"][1];
    const text = parts.map((part) =>
      typeof part === "string" ? part : JSON.stringify(part).replaceAll('"', "'"),
    );
    expect(JSON.parse(text.join(""))).toEqual({
      billing: [expect.stringMatching(/'Fn::GetAtt':\['Reader[0-9A-F]{8}','Arn'\]/)],
      risk: [expect.stringMatching(/:role\/known$/), "arn:aws:iam::123456789012:user/reader"],
    });
  });

  it("omits the variable of granted readers if nothing is granted", () => {
    const template = appWith((_, add) => void add("Events", minimal));
    expect(JSON.stringify(template.toJSON())).not.toContain("GRANTED_READERS");
  });

  it("refuses principals that it could not bind to the subscriber", () => {
    appWith((stack, add) => {
      const billing = add("Events", minimal).subscriber("billing");
      expect(() => billing.grantReadDocuments(new iam.Group(stack, "Group"))).toThrow("a role or a user");
      const elsewhere = new Stack(stack, "Elsewhere");
      const unnamed = new iam.Role(elsewhere, "Unnamed", { assumedBy: new iam.AccountRootPrincipal() });
      expect(() => billing.grantReadDocuments(unnamed)).toThrow("give it a roleName, or make it in Mine");
    });
  });
});
