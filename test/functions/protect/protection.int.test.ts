import type { Context } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startWireAws, type WireAws } from "../../support/wire-aws.ts";

// Names as in CloudFormation's template reference, "Custom resource request objects".
const stackId = "arn:aws:cloudformation:eu-central-1:123456789012:stack/income-events-prod/0f8fad5b";
const context: Partial<Context> = { awsRequestId: "r" };
const answerShape = z.strictObject({
  Status: z.enum(["SUCCESS", "FAILED"]),
  Reason: z.string().optional(),
  PhysicalResourceId: z.string(),
  LogicalResourceId: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
});

type Handler = (event: unknown, context: Context) => Promise<void>;
let aws: WireAws;
let creation: Handler;
let table: Handler;

beforeAll(async () => {
  aws = await startWireAws();
  for (const [name, value] of Object.entries({ ...aws.env, TABLE_NAME: "events" })) vi.stubEnv(name, value);
  creation = (await import("../../../functions/protect/creation.ts")).handler;
  table = (await import("../../../functions/protect/table.ts")).handler;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});
beforeEach(() => {
  aws.calls.length = 0;
  aws.answers.clear();
  aws.answers.set("/answer", { body: "" });
});

/** The answer to CloudFormation and its content type. */
async function request(handler: Handler, RequestType: string, more: object = {}) {
  const event = {
    RequestType,
    RequestId: "request-1",
    ResponseURL: `${aws.url}/answer?X-Amz-Signature=s`,
    LogicalResourceId: "Logical",
    StackId: stackId,
    ...more,
  };
  await handler(event, context as Context);
  const answer = aws.calls.find(({ action }) => action === "/answer");
  return { ...answerShape.parse(JSON.parse(answer?.body ?? "")), type: answer?.headers["content-type"] };
}

const inStatus = (status: string) => ({
  body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackStatus>${status}</StackStatus></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
});
/** Statuses in which a custom resource is removed, other than a creation's rollback. */
const otherStatuses = [
  "DELETE_IN_PROGRESS",
  "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
  "UPDATE_ROLLBACK_IN_PROGRESS",
  "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
];

const called = () => aws.calls.filter(({ action }) => action !== "/answer");

describe("the resource that is removed last", () => {
  const updated = `<UpdateTerminationProtectionResponse><UpdateTerminationProtectionResult><StackId>${stackId}</StackId>
</UpdateTerminationProtectionResult></UpdateTerminationProtectionResponse>`;

  it.each(["Create", "Update"])("does nothing at a %s", async (type) => {
    expect(await request(creation, type)).toEqual({
      Status: "SUCCESS",
      PhysicalResourceId: "Logical",
      LogicalResourceId: "Logical",
      StackId: stackId,
      RequestId: "request-1",
      // The URL is signed for no content type.
      type: "",
    });
    expect(called()).toEqual([]);
  });

  it("lets the stack be removed while its failed creation is rolled back", async () => {
    aws.answers
      .set("DescribeStacks", inStatus("ROLLBACK_IN_PROGRESS"))
      .set("UpdateTerminationProtection", { body: updated });
    const answer = await request(creation, "Delete", { PhysicalResourceId: "Known" });
    expect(answer).toMatchObject({ Status: "SUCCESS", PhysicalResourceId: "Known" });
    const form = Object.fromEntries(new URLSearchParams(called().at(-1)?.body));
    expect(form).toMatchObject({ StackName: stackId, EnableTerminationProtection: "false" });
  });

  it.each(otherStatuses)("leaves the stack protected if it is removed in %s", async (status) => {
    aws.answers.set("DescribeStacks", inStatus(status));
    expect(await request(creation, "Delete")).toMatchObject({ Status: "SUCCESS" });
    expect(called().map(({ action }) => action)).toEqual(["DescribeStacks"]);
  });

  it("answers what fails with its reason, and no text of AWS's", async () => {
    const answer = await request(creation, "Delete");
    expect(answer).toMatchObject({ Status: "FAILED" });
    expect(answer.Reason).not.toBe("");
    expect(answer.Reason).not.toContain("123456789012");
  });
});

describe("the resource that is created last", () => {
  const described = (isProtected: boolean) => ({
    body: JSON.stringify({ Table: { TableName: "events", DeletionProtectionEnabled: isProtected } }),
  });

  it.each(["Create", "Update"])("protects the table from deletion at a %s", async (type) => {
    aws.answers.set("DescribeTable", described(false)).set("UpdateTable", { body: "{}" });
    expect(await request(table, type)).toMatchObject({ Status: "SUCCESS" });
    expect(called().map(({ body }) => JSON.parse(body))).toEqual([
      { TableName: "events" },
      { TableName: "events", DeletionProtectionEnabled: true },
    ]);
  });

  it("leaves a table as it is that is protected already", async () => {
    aws.answers.set("DescribeTable", described(true));
    expect(await request(table, "Create")).toMatchObject({ Status: "SUCCESS" });
    expect(called()).toHaveLength(1);
  });

  it.each(otherStatuses)("leaves the table protected if it is removed in %s", async (status) => {
    aws.answers.set("DescribeStacks", inStatus(status));
    expect(await request(table, "Delete")).toMatchObject({ Status: "SUCCESS" });
    expect(called().map(({ action }) => action)).toEqual(["DescribeStacks"]);
  });

  it("lets the table be removed while the stack's failed creation is rolled back, once it is active again", async () => {
    const statuses = ["ACTIVE", "UPDATING", "ACTIVE"];
    aws.answers
      .set("DescribeStacks", inStatus("ROLLBACK_IN_PROGRESS"))
      .set("DescribeTable", () => ({
        body: JSON.stringify({ Table: { DeletionProtectionEnabled: true, TableStatus: statuses.shift() } }),
      }))
      .set("UpdateTable", { body: "{}" });
    expect(await request(table, "Delete")).toMatchObject({ Status: "SUCCESS" });
    const update = called().find(({ action }) => action === "UpdateTable");
    expect(JSON.parse(update?.body ?? "")).toEqual({ TableName: "events", DeletionProtectionEnabled: false });
    expect(statuses).toEqual([]);
  });
});

it("an answer that CloudFormation does not take is given again, by Lambda's own retries", async () => {
  aws.answers.set("/answer", { status: 503, body: "" });
  await expect(request(creation, "Create")).rejects.toThrow();
});
