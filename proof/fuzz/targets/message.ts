import { parseWebhookSecret, writeWebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { readEnvelope, writeEnvelope } from "../../../domain/event/envelope.ts";
import { documentTask, readTask, stateTask, writeTask } from "../../../domain/fetch/task.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { eraseTask, readEraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { inMemory } from "../../../packages/subscriber/memory.ts";
import { createReader } from "../../../packages/subscriber/reader.ts";
import { must, type Target } from "../target.ts";
import { failsAsSaid } from "./failing.ts";

/** What lies in queues and secrets: our own code wrote it, or an operator, or whoever may send to the queue. */
async function check(input: Uint8Array): Promise<void> {
  const text = Buffer.from(input).toString("utf8");
  readsItsOwn(text, readEnvelope, writeEnvelope);
  readsItsOwn(text, readTask, writeTask);
  readsItsOwn(text, readEraseTask, writeEraseTask);
  readsItsOwn(text, parseWebhookSecret, (secret) =>
    secret === undefined ? text : writeWebhookSecret(secret),
  );
  const handled: unknown[] = [];
  const read = createReader({ memory: inMemory(), handle: (message) => void handled.push(message) });
  const first = await read(text);
  must(first.as !== "failed", "a reader fails with what a handler did not throw");
  if (first.as === "handled") must((await read(text)).as === "duplicate", "a message is handled twice");
  must(handled.length === (first.as === "handled" ? 1 : 0), "what is said of a message was not done");
}

/** What is read, written, and read again is the same. */
function readsItsOwn<T>(text: string, read: (text: string) => T, write: (value: T) => string): void {
  const value = failsAsSaid(() => read(text));
  if (value === undefined) return;
  must(JSON.stringify(read(write(value))) === JSON.stringify(value), "it reads otherwise what it wrote");
}

const subject = { kind: "account", id: "0f8fad5b-d9cb-469f-a165-70867728950e" } as const;
const at = "2026-11-21T12:00:00.000Z";

export const target: Target = {
  promise: "a message, a task and a secret are read as they were written, or refused with a reason",
  seeds: [
    writeEnvelope({
      schemaVersion: 1,
      kind: "accounts",
      id: "a",
      receivedAt: at,
      body: { as: "text", text: "{}" },
    }),
    writeEnvelope({
      schemaVersion: 1,
      kind: "users",
      id: "b",
      receivedAt: at,
      headers: { "ce-id": "1" },
      body: { as: "object", key: "bodies/a", of: "base64", bytes: 1 },
    }),
    writeTask(stateTask("startFetch", subject, 1, {})),
    writeTask(
      documentTask(subject, { endpoint: "income", range: { start: "2026-10-01", end: "2026-10-31" } }, 1, {
        cause: "a.1",
      }),
    ),
    writeEraseTask(eraseTask(subject, "operator", [{ kind: "user", id: "c" }])),
    writeWebhookSecret({ current: "a", previous: { value: "b", until: at }, signing: "c" }),
    JSON.stringify(testMessage("an-id", "reader", "a-source", new Date(at))),
  ],
  words: [
    "schemaVersion",
    "withheld",
    "facts",
    "cause",
    "__proto__",
    "1e999",
    "user.erased",
    "data.updated",
    "sequence",
  ],
  check,
};
