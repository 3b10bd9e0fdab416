import { createHash } from "node:crypto";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { describe, expect, test } from "vitest";
import { clients, region } from "./local-system.ts";
import { queueArn, workQueueFixture } from "./work-queue.ts";

/** What the client checks an answer by. */
function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

const fixture = workQueueFixture();
const { received } = fixture;

describe("interceptors", () => {
  async function intercepted(interceptor: Interceptor, action: () => Promise<unknown>): Promise<unknown> {
    const stop = fixture.system.gateway.intercept(interceptor);
    try {
      return await action();
    } finally {
      stop();
    }
  }

  const onSend =
    (phase: "before" | "after", outcome: Awaited<ReturnType<Interceptor>>): Interceptor =>
    async (call, at) =>
      call.action === "sqs:SendMessage" && at === phase ? outcome : undefined;
  const throttled = { status: 400, errorType: "ThrottlingException", message: "Slow down" };
  const send = (body: string, options: { abortSignal?: AbortSignal } = {}) =>
    clients(fixture.system, fixture.system.operator).sqs.send(
      new SendMessageCommand({ QueueUrl: fixture.QueueUrl, MessageBody: body }),
      options,
    );

  test("a fault before the engine: the client sees it and nothing happened", async () => {
    await intercepted(onSend("before", throttled), () =>
      expect(send("never")).rejects.toMatchObject({ name: "ThrottlingException", message: "Slow down" }),
    );
    expect(await received()).toEqual([]);
  });

  test("a fault after the engine: the client sees it though it happened", async () => {
    await intercepted(onSend("after", throttled), () =>
      expect(send("sent after all")).rejects.toMatchObject({ name: "ThrottlingException" }),
    );
    expect(await received()).toEqual(["sent after all"]);
  });

  test("a dropped connection after the engine: the client sees a broken connection though it happened", async () => {
    await intercepted(onSend("after", "drop"), () =>
      expect(send("dropped")).rejects.toMatchObject({ code: "ECONNRESET" }),
    );
    expect(await received()).toEqual(["dropped"]);
  });

  test("a hanging call is never answered and never reaches the engine", async () => {
    const isHanging = Promise.withResolvers<void>();
    const hang: Interceptor = async (call, phase) => {
      if (call.action !== "sqs:SendMessage" || phase !== "before") return undefined;
      isHanging.resolve();
      return "hang";
    };
    await intercepted(hang, async () => {
      const abort = new AbortController();
      const sending = send("hangs", { abortSignal: abort.signal });
      await isHanging.promise;
      abort.abort();
      await expect(sending).rejects.toMatchObject({ name: "AbortError" });
    });
    expect(await received()).toEqual([]);
  });

  test("they see who calls what on which resource, and stop when removed", async () => {
    const seen: Call[] = [];
    await intercepted(
      async (call, phase) => {
        if (phase === "before") seen.push(call);
        return undefined;
      },
      () => send("seen"),
    );
    await send("unseen");
    expect(seen).toEqual([
      {
        id: expect.any(Number),
        principal: "operator",
        service: "sqs",
        action: "sqs:SendMessage",
        resources: [queueArn],
        isFromFunction: false,
        body: expect.any(Buffer),
      },
    ]);
    expect(JSON.parse(String(seen[0]?.body))).toEqual({ QueueUrl: fixture.QueueUrl, MessageBody: "seen" });
    await received();
  });

  test("a function's own calls are distinguished from those that Lambda makes in its name, by their session", async () => {
    const seen: boolean[] = [];
    const see: Interceptor = async ({ isFromFunction }) => void seen.push(isFromFunction);
    const client = new SQSClient({
      region,
      endpoint: fixture.system.gateway.url,
      credentials: { ...fixture.system.operator, sessionToken: "local" },
    });
    await intercepted(see, () =>
      client.send(new SendMessageCommand({ QueueUrl: fixture.QueueUrl, MessageBody: "of a function" })),
    );
    await intercepted(see, () => send("of Lambda"));
    expect(seen).toEqual([true, true, false, false]);
    await received();
  });

  test("a detour sends a call twice, or another body, and changes the answer", async () => {
    await intercepted(onSend("before", { times: 2 }), () => send("twice"));
    expect(await received()).toEqual(["twice", "twice"]);
    const MessageBody = "another";
    const answer = (text: string) =>
      JSON.stringify({ ...JSON.parse(text), MD5OfMessageBody: md5("one"), MessageId: "1" });
    const other = onSend("before", {
      body: JSON.stringify({ QueueUrl: fixture.QueueUrl, MessageBody }),
      answer,
    });
    expect(await intercepted(other, () => send("one"))).toMatchObject({ MessageId: "1" });
    expect(await received()).toEqual(["another"]);
  });

  test("a detour without a call answers by itself", async () => {
    const made = JSON.stringify({ MessageId: "made", MD5OfMessageBody: md5("never") });
    const alone = onSend("before", { times: 0, answer: () => made });
    expect(await intercepted(alone, () => send("never"))).toMatchObject({ MessageId: "made" });
    expect(await received()).toEqual([]);
  });

  test.each(["before", "after"] as const)(
    "an answer that is cut (%s) breaks off in its middle, though it happened",
    async (phase) => {
      await intercepted(onSend(phase, "cut"), () =>
        expect(send("cut")).rejects.toMatchObject({ message: expect.stringContaining("aborted") }),
      );
      expect(await received()).toEqual(["cut"]);
    },
  );
});
