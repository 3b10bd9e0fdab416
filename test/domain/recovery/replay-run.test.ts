import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeEnvelope } from "../../../domain/event/envelope.ts";
import { stateTask, writeTask } from "../../../domain/fetch/task.ts";
import {
  contentOfDeadLetter,
  endOf,
  nextRedriveCount,
  readRedriveCount,
} from "../../../domain/recovery/dead-letter.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { parseReplayRun, type ReplayRun } from "../../../domain/recovery/replay-run.ts";

const run: ReplayRun = {
  id: "2026-03-01",
  version: 3,
  selection: { type: "account.*", since: "2026-01-01T00:00:00.000Z", until: "2026-02-01T00:00:00.000Z" },
  subject: { kind: "user", id: "u" },
  subscribers: ["lender", "auditor"],
  allTypes: true,
  rate: 50,
  after: { pk: "USER#u", sk: "STATE" },
  counts: { examined: 7, messages: 5, pending: 1, sent: { lender: 5, auditor: 4 } },
};

describe("a stored replay", () => {
  it("is read as it was written", () => {
    expect(parseReplayRun(JSON.parse(JSON.stringify(run)))).toEqual(run);
  });

  it("may be of the whole table, at its beginning, for whoever wants its types", () => {
    const { subject: _, after: __, ...rest } = run;
    const least = { ...rest, selection: {}, allTypes: false };
    expect(parseReplayRun(least)).toEqual(least);
    expect(parseReplayRun({ ...least, allTypes: "yes", subscribers: undefined })).toEqual({
      ...least,
      subscribers: [],
    });
  });

  it.each<[string, object]>([
    ["id", { id: 1 }],
    ["version", { version: "3" }],
    ["selection", { selection: undefined }],
    ["subject", { subject: {} }],
    ["rate", { rate: undefined }],
    ["after", { after: "x" }],
    ["pk", { after: { sk: "STATE" } }],
    ["sk", { after: { pk: "USER#u" } }],
    ["counts", { counts: undefined }],
    ["examined", { counts: { ...run.counts, examined: "7" } }],
    ["messages", { counts: { ...run.counts, messages: "7" } }],
    ["pending", { counts: { ...run.counts, pending: "7" } }],
    ["sent", { counts: { ...run.counts, sent: undefined } }],
    ["lender", { counts: { ...run.counts, sent: { lender: "5" } } }],
  ])("is refused if a field is missing or invalid, by its name: %s", (name, change) => {
    expect(() => parseReplayRun({ ...run, ...change })).toThrow(name);
  });
});

const envelope = {
  schemaVersion: 1,
  kind: "users",
  id: "digest",
  receivedAt: "2026-11-21T12:00:00Z",
  body: { type: "text", text: '{"user_id":1}' },
} as const;

describe("what a dead letter is about", () => {
  it("is reported for an event: its kind, its id, and its envelope", () => {
    expect(contentOfDeadLetter(writeEnvelope(envelope))).toEqual({
      what: "users event",
      id: "digest",
      envelope,
    });
  });

  it("is reported for an event that only a later release can read, without its envelope", () => {
    const later = JSON.stringify({ ...envelope, schemaVersion: 9 });
    expect(contentOfDeadLetter(later)).toEqual({ what: "users event", id: "digest" });
  });

  it("is reported for a task: its kind and its subject", () => {
    const task = stateTask("fetchState", { kind: "account", id: "a" }, 3, {});
    expect(contentOfDeadLetter(writeTask(task))).toEqual({ what: "state fetch task", id: "account/a" });
  });

  it("is reported for a task of a later release: the type that it has", () => {
    const later = { type: "fetchPage", subject: { kind: "account", id: "a" } };
    expect(contentOfDeadLetter(JSON.stringify(later))).toEqual({ what: "fetchPage task", id: "account/a" });
  });

  it("is reported for an erasure: its subject", () => {
    const erasure = writeEraseTask(eraseTask({ kind: "user", id: "u" }, "operator"));
    expect(contentOfDeadLetter(erasure)).toEqual({ what: "erasure", id: "user/u" });
  });

  it("is reported for a subscriber's message", () => {
    const message = { specversion: "1.0", type: "user.created", id: "m", data: {} };
    expect(contentOfDeadLetter(JSON.stringify(message))).toEqual({ what: "user.created", id: "m" });
  });

  it.each([
    ...["no JSON {", "[1]", '{"kind":"other"}', '{"kind":"users","id":1}', "null"],
    ...['{"type":"x","id":"m"}', '{"specversion":"1.0","type":"x"}', '{"specversion":"1.0","id":"m"}'],
    ...['{"subject":{"kind":"user","id":"u"}}', '{"type":"x","subject":{"kind":"cat","id":"u"}}'],
  ])("is unknown if the body is not ours: %s", (body) => {
    expect(contentOfDeadLetter(body)).toEqual({ what: "unreadable" });
  });
});

it("a dead letter ends when its queue's retention is over, counted from its sending", () => {
  const sentAt = new Date("2026-03-01T12:00:00.000Z");
  expect(endOf({ sentAt }, 14 * 86_400)).toEqual(new Date("2026-03-15T12:00:00.000Z"));
});

describe("how often a dead letter was redriven", () => {
  it("is counted, with the last run that redrove it", () => {
    const first = nextRedriveCount(undefined, "run-a");
    expect(readRedriveCount(first)).toEqual({ count: 1, run: "run-a" });
    expect(readRedriveCount(nextRedriveCount(first, "run-b"))).toEqual({ count: 2, run: "run-b" });
  });

  it.each(["1", "1 ", " 1 run", "x1 run", "1 run more", "-1 run", "1.5 run", "1234567890 run", "1\trun"])(
    "is none if the attribute is not quite ours: %j",
    (text) => {
      expect(readRedriveCount(text)).toEqual({ count: 0, run: undefined });
    },
  );

  it("is counted up to nine digits", () => {
    expect(readRedriveCount("123456789 run")).toEqual({ count: 123_456_789, run: "run" });
  });

  it("is undefined if the attribute is not ours, whatever it contains (law)", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d{1,9} \S+$/.test(text));
        expect(readRedriveCount(text)).toEqual({ count: 0, run: undefined });
      }),
    );
    expect(readRedriveCount(undefined)).toEqual({ count: 0, run: undefined });
  });
});
