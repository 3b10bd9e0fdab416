import { type Body, type Envelope, envelopeVersion, writeEnvelope } from "../../domain/event/envelope.ts";
import {
  fetchStateTask,
  readTask,
  startTask,
  type Task,
  verifyStartTask,
  writeTask,
} from "../../domain/fetch/tasks.ts";
import { messageOfDocument, messageOfErasure, messageOfState } from "../../domain/message/message.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { at, facts, income, known, noon, ranged, subject, user } from "./sample-subjects.ts";
import type { Samples } from "./samples.ts";

const bodies: Readonly<Record<Body["as"], Body>> = {
  text: { as: "text", text: '{"event":"connect_account"}' },
  base64: { as: "base64", base64: "/w==" },
  object: { as: "object", key: "bodies/accounts/sample", of: "text", bytes: 400_000 },
  withheld: { as: "withheld", bytes: 7, error: "not JSON" },
  facts: { as: "facts", facts },
};

export function envelopeSamples(): Samples {
  const common = { schemaVersion: envelopeVersion, kind: "accounts", id: "sample", receivedAt: at } as const;
  const envelopes: Record<string, Envelope> = Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, { ...common, body }]),
  );
  const headers = { ...common, headers: { "ce-id": "1" }, body: bodies.text };
  return written({ ...envelopes, headers }, writeEnvelope);
}

export function taskSamples(): Samples {
  const read = readTask(subject, income, 2);
  const progress = { noted: 2, from: { next: "cursor", pages: 1, mark: "mark" }, kept: "kept" };
  const tasks: Record<string, Task> = {
    start: startTask(subject, 3),
    ask: fetchStateTask(subject, 3),
    check: verifyStartTask(subject, 3, { income: 1, profile: 0 }, { due: noon }),
    read,
    "read of a range": readTask(subject, ranged, 2),
    "read that has begun": { ...read, task: "read", subject, ...income, wanted: 2, progress },
    "read that fails": { ...read, attempts: 4, since: at },
    "read with its cause": readTask(subject, income, 2, "the cause"),
  };
  return written(tasks, writeTask);
}

export function erasureSamples(): Samples {
  const asked = eraseTask(user, "operator", [subject], "id");
  const later = { pass: 2, next: "messages", erased: [user, subject], removed: { events: 3 } } as const;
  return written(
    {
      asked,
      "with its cause": { ...asked, correlationId: "the cause" },
      "in its second pass": { ...asked, ...later, incomplete: ["fetch"] },
    },
    writeEraseTask,
  );
}

export function messageSamples(): Samples {
  const source = "urn:sample";
  return {
    "of an event": messageOfState(known.state, source),
    "of an answer": messageOfState({ ...known.state, latest: { cause: "answer", at } }, source),
    "of an answer with its cause": messageOfState(
      { ...known.state, latest: { cause: "answer", at, correlationId: "the cause" } },
      source,
    ),
    "of an event of a range": messageOfDocument(known.ranged, source),
    "of data": messageOfDocument(known.fetched, source),
    "of an erasure": messageOfErasure(user, at, source),
  };
}

function written<T>(values: Readonly<Record<string, T>>, write: (value: T) => string): Samples {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.parse(write(value))]));
}
