import { describe, expect, it } from "vitest";
import { replayReport } from "../../../../packages/cli/recovery/replay-report.ts";

const counts = { examined: 9, messages: 3, pending: 0, sent: { ledger: 3, mailer: 1 } };
const run = { id: "r1", version: 4, selection: {}, subscribers: [], allTypes: false, rate: 50, counts };

describe("the report of a replay", () => {
  it("reports how many messages each subscriber got", () => {
    const { data, text, problem } = replayReport({ run, unreadable: [] }, false);
    expect(data).toEqual({
      replayId: "r1",
      messages: 3,
      sent: { ledger: 3, mailer: 1 },
      pending: 0,
      unreadable: [],
    });
    expect(text).toMatch(
      /^The replay r1 is done\. Of 3 messages each subscriber got what its filter takes\.\nSUBSCRIBER +MESSAGES\nledger +3\nmailer +1$/,
    );
    expect(problem).toBeUndefined();
  });

  it("says that nothing was sent where it only counted", () => {
    const { data, text } = replayReport({ run, unreadable: [] }, true);
    expect(data).not.toHaveProperty("replayId");
    expect(text).toContain(
      "Of 3 messages each subscriber would get what its filter takes. Nothing was sent.",
    );
  });

  it("says what was left out, and why", () => {
    const left = { ...run, counts: { ...counts, pending: 2 } };
    const unreadable = [{ pk: "USER#a\u001b[2J", sk: "STATE" }];
    const { text, problem } = replayReport({ run: left, unreadable }, false);
    expect(text).toContain("2 events were left out: nothing has followed them yet");
    expect(problem).toBe("Nothing was sent of 1 items that this release can't read:\n  USER#a [2J STATE");
  });
});
