import { describe, expect, it } from "vitest";
import { lambdaHandler } from "../../../packages/subscriber/lambda.ts";
import { inMemory } from "../../../packages/subscriber/memory.ts";
import { createReader } from "../../../packages/subscriber/reader.ts";
import { exampleOf } from "../../../scripts/documents/examples.ts";

describe("the handler of a Lambda function", () => {
  it("reports only failed messages to SQS, and calls report with the reason", async () => {
    const reports: string[] = [];
    const read = createReader({
      memory: inMemory(),
      handle: ({ type }) => {
        if (type === "account.created") throw new Error("no room");
      },
    });
    const handler = lambdaHandler(read, (messageId, { type, reason }) =>
      reports.push(`${messageId} ${type}: ${reason}`),
    );
    const bodies = [
      exampleOf("user.created"),
      exampleOf("account.created"),
      exampleOf("user.created"),
      "what?",
    ];
    const Records = bodies.map((body, index) => ({ messageId: String(index), body: JSON.stringify(body) }));
    expect(await handler({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: "1" }, { itemIdentifier: "3" }],
    });
    expect(reports).toEqual(["1 failed: no room", "3 unreadable: the message is no JSON object"]);
  });
});
