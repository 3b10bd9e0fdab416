import { describe, expect, it } from "vitest";
import { FailureError } from "../../../domain/core/failures.ts";
import {
  applyProviderAnswer as answer,
  applyEvent as apply,
  parseState,
} from "../../../domain/state/state.ts";
import { accountId, applied, applyAll, at, eventOf, minute, userId } from "../samples.ts";

const connected = eventOf("account.connected");
const disconnected = eventOf("account.disconnected");
const deleted = eventOf("account.deleted");
const timed = (type: "connected" | "updated", time: number) =>
  eventOf(`account.${type}`, { time: minute(time) });

describe("a stored state", () => {
  it("is read as it was written", () => {
    const states = [
      applied([timed("connected", 1)]),
      applied([connected, disconnected]),
      answer(applied([deleted]), 1, { found: false }, { at }),
      apply(applied([connected, disconnected]), connected, 2),
      applyAll([eventOf("account.created", { userId, datasourceId: "d" })]),
    ];
    for (const state of states) expect(parseState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it("is refused where a field is missing or wrong, by the field's name", () => {
    const stored = applied([connected]);
    const broken: [string, unknown][] = [
      ["state", null],
      ["version", { ...stored, version: "1" }],
      ["processed", { ...stored, processed: undefined }],
      ["latest.cause", { ...stored, latest: { cause: "rumour" } }],
      ["latest.outcome", { ...stored, latest: { ...stored.latest, outcome: "guessed" } }],
      ["at", { ...stored, latest: { cause: "answer" } }],
      ["event.type", { ...stored, latest: { cause: "event", outcome: "applied", event: { kind: "users" } } }],
      ["event.kind", { ...stored, latest: { cause: "event", outcome: "applied", event: { kind: "cats" } } }],
      ["subject.kind", { ...stored, subject: { kind: "cat", id: accountId } }],
      ["id", { ...stored, subject: { kind: "user", id: "" } }],
    ];
    for (const [field, value] of broken) {
      expect(() => parseState(value), field).toThrow(FailureError);
      expect(() => parseState(value), field).toThrow(field);
    }
  });
});

describe("the receipts that a state remembers", () => {
  it("are the last twenty, so that an item never grows without end", () => {
    const events = Array.from({ length: 30 }, (_, index) => timed("connected", index));
    const state = applied(events);
    expect(state.processed).toHaveLength(20);
    for (const event of events.slice(-20)) expect(apply(state, event, 1)).toBeUndefined();
  });
});
