import { describe, expect, it } from "vitest";
import { planReplay, resumeReplay } from "../../../../packages/cli/recovery/replay-plan.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const names = ["ledger", "mailer"];
const subscribers = [{ name: "ledger" }, { name: "mailer", types: ["user.*"] }];

describe("a replay's plan", () => {
  it("is about all that came before now, for one subscriber, at fifty a second, unless flags say otherwise", () => {
    const run = planReplay({ subscriber: "ledger" }, subscribers, now);
    expect(run).toMatchObject({
      version: 0,
      selection: { until: "2026-03-01T12:00:00.000Z" },
      subscribers: ["ledger"],
      allTypes: false,
      rate: 50,
    });
    expect(run.subject).toBeUndefined();
    expect(run.id).toMatch(/^2026-03-01t120000-[0-9a-f]{6}$/);
    expect(planReplay({ subscriber: "ledger" }, subscribers, now).id).not.toBe(run.id);
  });

  it("keeps times that were given as how long ago, so that an interruption does not move them", () => {
    const flags = {
      allSubscribers: true,
      since: "24h",
      until: "1h",
      user: "u",
      type: "account.*",
      rate: "7",
    };
    expect(planReplay(flags, subscribers, now)).toMatchObject({
      selection: { type: "account.*", since: "2026-02-28T12:00:00.000Z", until: "2026-03-01T11:00:00.000Z" },
      subject: { kind: "user", id: "u" },
      subscribers: names,
      rate: 7,
    });
  });

  it.each([
    [{}, "Choose --subscriber NAME or --all-subscribers; the stage has: ledger, mailer."],
    [{ subscriber: "nobody" }, "No subscriber nobody; the stage has: ledger, mailer."],
    [{ subscriber: "ledger", allSubscribers: true }, "exclude each other"],
    [{ subscriber: "ledger", type: "accounts.*" }, "--type"],
    [{ subscriber: "ledger", rate: "0" }, "--rate"],
    [{ subscriber: "ledger", since: "soon" }, "--since"],
    [{ subscriber: "ledger", since: "2026-03-02" }, "is in the future"],
    [{ subscriber: "ledger", since: "1h", until: "2h" }, "is not before --until"],
    [{ subscriber: "mailer", type: "account.*" }, "the filter of mailer leaves it out. Add --all-types"],
    [{ subscriber: "ledger", user: "1", account: "2" }, "exclude each other"],
  ])("refuses %o", (flags, reason) => {
    expect(() => planReplay(flags, subscribers, now)).toThrow(reason);
  });

  it("may be of what a subscriber's filter leaves out where that is said, and of what another one takes", () => {
    const type = "account.*";
    expect(planReplay({ subscriber: "mailer", type, allTypes: true }, subscribers, now).allTypes).toBe(true);
    expect(planReplay({ allSubscribers: true, type }, subscribers, now).subscribers).toEqual(names);
  });

  it("goes on as it was, at another rate if that is given, and for nobody else", () => {
    const run = planReplay({ subscriber: "ledger" }, subscribers, now);
    expect(resumeReplay(run, {}, names)).toEqual(run);
    expect(resumeReplay(run, { rate: "3" }, names)).toEqual({ ...run, rate: 3 });
    expect(() => resumeReplay(run, { allSubscribers: true }, names)).toThrow("leave out --all-subscribers");
    expect(() => resumeReplay(run, { since: "1h" }, names)).toThrow("leave out --since");
    expect(() => resumeReplay(run, {}, ["mailer"])).toThrow("no subscriber ledger any more");
  });
});
