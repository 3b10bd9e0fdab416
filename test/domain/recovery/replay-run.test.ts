import { describe, expect, it } from "vitest";
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
  ])("is refused where a field is missing or wrong, by its name: %s", (name, change) => {
    expect(() => parseReplayRun({ ...run, ...change })).toThrow(name);
  });
});
