import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import {
  functionResources,
  mappingResource,
  packageUrl,
  queueResource,
  receiving,
} from "../../../support/assembly.ts";
import { eventually } from "../../../support/eventually.ts";
import { started } from "../stack/started.ts";
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

const rounds = 20;

/**
 * A function that resends what it receives to its own queue for this many rounds. A message that is
 * redelivered becomes a dead letter: on a busy machine each takes seconds.
 */
async function startLoop(hiddenSeconds: number, properties: Readonly<Record<string, unknown>> = {}) {
  const running = await started({
    assets: {
      Work: `
        import { SendMessageCommand, SQSClient } from "${packageUrl("@aws-sdk/client-sqs")}";
        const sqs = new SQSClient({});
        export const handler = async ({ Records: [{ body }] }) => {
          console.log(body);
          if (Number(body) === ${rounds}) return;
          const MessageBody = String(Number(body) + 1);
          await sqs.send(new SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody }));
        };`,
    },
    resources: {
      ...queueResource("Dead"),
      ...queueResource("Queue", {
        VisibilityTimeout: hiddenSeconds,
        RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 1 },
      }),
      ...functionResources("Work", {
        allow: [receiving("Queue"), ["sqs:SendMessage", { "Fn::GetAtt": ["Queue", "Arn"] }]],
        environment: { QUEUE_URL: { Ref: "Queue" } },
        properties: { Timeout: 10, ...properties },
      }),
      ...mappingResource("Mapping", ["Queue", "Arn"], "Work"),
    },
  });
  const { stack, clients } = running;
  // A process may take longer to start than the visibility timeout.
  await stack.functions[0]?.invoke(JSON.stringify({ Records: [{ body: String(rounds) }] }));
  await clients.sqs.send(new SendMessageCommand({ QueueUrl: running.url("Queue"), MessageBody: "1" }));
  return {
    ...running,
    rounds: () => (stack.functions[0]?.log() ?? []).slice(1).map(Number),
    deadLetters: () => stack.gateway.queueGauge("Dead", "ApproximateNumberOfMessagesVisible"),
  };
}

describe.concurrent("a function that sends to the queue that invokes it", () => {
  test("is not invoked more than 16 times in one chain; the message goes to the dead letters", async () => {
    await using loop = await startLoop(10);
    await eventually(async () => expect(await loop.deadLetters()).toBe(1), 30);
    expect(loop.rounds()).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
    expect(loop.stack.problems().failures).toEqual([
      expect.stringContaining("Work was invoked 16 times in one chain of requests"),
    ]);
  });

  test("continues to be invoked if its RecursiveLoop is Allow", async () => {
    await using loop = await startLoop(60, { RecursiveLoop: "Allow" });
    await eventually(() => expect(loop.rounds()).toHaveLength(rounds), 30);
    await loop.drained();
    expect(await loop.deadLetters()).toBe(0);
  });
});
