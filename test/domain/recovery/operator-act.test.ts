import { expect, it } from "vitest";
import { parseOperatorAct } from "../../../domain/recovery/operator-act.ts";

const act = {
  id: "1",
  at: "2026-03-01T12:00:00.000Z",
  who: "arn:aws:iam::123456789012:user/ops",
  act: "erase",
  target: "user",
  outcome: "done",
};

it("reads a recorded action of an operator, with or without what only some have", () => {
  expect(parseOperatorAct(act)).toEqual(act);
  const full = { ...act, subject: "digest", reason: "asked by the user", count: 3 };
  expect(parseOperatorAct({ ...full, other: 1 })).toEqual(full);
});

it.each([
  ["act", "dance", "act: expected one of reveal, erase, "],
  ["outcome", undefined, "outcome: expected one of begun, done, failed"],
  ["target", 5, "target: expected a text"],
  ["who", "", "who: expected a text"],
  ["count", "3", "count: expected a number"],
])("refuses one whose %s is %j, and names it", (field, value, reason) => {
  expect(() => parseOperatorAct({ ...act, [field]: value })).toThrow(reason);
});
