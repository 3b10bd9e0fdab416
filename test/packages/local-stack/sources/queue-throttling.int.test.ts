import { expect, test } from "vitest";
import { receipts, startWork } from "./queue-work.ts";

test("more is received than a function may run at once, and tried again while it is throttled", async () => {
  await using work = await startWork({
    handler: "() => new Promise((resolve) => setTimeout(resolve, 60))",
    mapping: { BatchSize: 1 },
    function: { ReservedConcurrentExecutions: 1 },
  });
  await work.send("a", "b", "c", "d", "e", "f", "g", "h");
  await work.drained();
  const counts = work.stack.functions[0]?.counts();
  expect(counts).toMatchObject({ peak: 1, invocations: 8, errors: 0 });
  expect(counts?.throttles).toBeGreaterThan(0);
  expect(Object.values(receipts(work.log()))).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
});

test("what is throttled until it is visible again was received in vain, and becomes a dead letter", async () => {
  await using work = await startWork({
    handler: "() => null",
    function: { ReservedConcurrentExecutions: 0, Timeout: 1 },
    queue: {
      VisibilityTimeout: 1,
      RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 2 },
    },
  });
  await work.send("a");
  await work.drained();
  expect(work.log()).toEqual([]);
  expect(await work.dead()).toEqual(["a"]);
});
