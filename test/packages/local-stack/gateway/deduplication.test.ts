import { createDeduplication } from "@income-events/local-stack/gateway/in-flight.ts";
import { expect, test } from "vitest";

test("an id that is due again is another for the engine, and the same for the caller", () => {
  let seconds = 0;
  const { forEngine, forCaller } = createDeduplication(5, () => seconds * 1000);
  const batch = { service: "sqs", action: "sqs:SendMessageBatch", needs: [] } as const;
  const sent = (id: string, QueueUrl = "queue"): string => {
    const entries = { QueueUrl, Entries: [{ MessageBody: "text", MessageDeduplicationId: id }] };
    const { Entries } = JSON.parse(forEngine(batch, Buffer.from(JSON.stringify(entries))).toString());
    return Entries[0].MessageDeduplicationId;
  };
  expect(sent("a")).toBe("a");
  seconds = 4;
  expect([sent("a"), sent("b"), sent("a", "other")]).toEqual(["a", "b", "a"]);
  seconds = 5;
  const again = sent("a");
  expect(again).not.toBe("a");
  expect(sent("b")).toBe("b");
  seconds = 9;
  expect(sent("a")).toBe(again);
  seconds = 10;
  expect([sent("a"), sent("b")]).not.toContain(again);
  const received = JSON.stringify({
    Attributes: { MessageDeduplicationId: again, MessageGroupId: "a#again1" },
  });
  expect(JSON.parse(forCaller(received)).Attributes).toEqual({
    MessageDeduplicationId: "a",
    MessageGroupId: "a#again1",
  });
});
