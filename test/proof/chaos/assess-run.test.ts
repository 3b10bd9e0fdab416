import { describe, expect, it } from "vitest";
import { account } from "../../../proof/chaos/audit/audit-events.ts";
import { assessRun } from "../../../proof/chaos/audit/report-line.ts";
import { faultClasses } from "../../../proof/chaos/faults/fault-classes.ts";
import { injectFaults } from "../../../proof/chaos/faults/fault-schedule.ts";

const sent = [{ kind: "users", id: "a", subjects: [], status: 202 }];
const stored = new Set(["a"]);
const evidence = {
  sent,
  stored,
  records: [],
  messages: [],
  deadLetters: new Set<string>(),
  losses: [],
  unready: [],
  remains: [],
};
const whole = account({ ...evidence, erased: new Set() });
const course = { fired: [["SQS fails", 1] as const], left: [], initErrors: [] };

describe("a run of chaos", () => {
  it("passes if nothing was lost or duplicated, its account closes and everything was tried", () => {
    expect(assessRun(whole, course)).toEqual([]);
  });

  it.each([
    { what: "that lost an event", wrong: { lostEvents: new Map([["a", "gone"]]) }, says: "lost: a: gone" },
    { what: "that doubled one", wrong: { duplicates: ["a twice"] }, says: "duplicated: a twice" },
    {
      what: "whose account does not close",
      wrong: { unaccounted: ["b is stored and nobody sent it"] },
      says: "the account does not close: b is stored and nobody sent it",
    },
  ])("$what fails", ({ wrong, says }) => {
    expect(assessRun({ ...whole, ...wrong }, course)).toEqual([says]);
  });

  it.each([
    {
      what: "a class of faults fired zero times",
      wrong: { fired: [["SQS fails", 1] as const, ["S3 throttles", 0] as const] },
      says: 'the fault "S3 throttles" never fired',
    },
    {
      what: "a crash point was not struck",
      wrong: { left: ["Relay sqs:SendMessage unsent"] },
      says: 'the crash point "Relay sqs:SendMessage unsent" was not struck',
    },
    {
      what: "a function could not be imported",
      wrong: { initErrors: ["SyntaxError: x"] },
      says: "SyntaxError: x",
    },
  ])("in which $what fails", ({ wrong, says }) => {
    expect(assessRun(whole, { ...course, ...wrong })).toEqual([says]);
  });

  it("counts every class of faults, those that never fired included", () => {
    expect(injectFaults(1).counts()).toEqual(new Map(faultClasses.map((name) => [name, 0])));
  });
});
