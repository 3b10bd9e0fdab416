import { describe, expect, it } from "vitest";
import {
  FailureError,
  failureOf,
  isAttempt,
  isNotReady,
  isRefusedCall,
  laterRelease,
  notReady,
  permanent,
  refusedCall,
  retryable,
  unreachable,
  waiting,
} from "../../../domain/core/failures.ts";
import {
  fieldsOf,
  numberOf,
  optionalBoolean,
  optionalText,
  parseJson,
  present,
  textOf,
  textsOf,
} from "../../../domain/core/parse.ts";
import {
  canaryBody,
  canaryBytes,
  canaryIn,
  haveSameMessage,
  isEventType,
  isUnordered,
  isWebhookKind,
  type LastChange,
  millisecondsSince,
  parseEvent,
  parseLastChange,
  webhookKinds,
} from "../../../domain/event/events.ts";
import { eventOf, userId } from "../samples.ts";

describe("a failure", () => {
  it("is the thrown one if it was classified", () => {
    expect(failureOf(permanent("no such event"))).toEqual({ type: "permanent", reason: "no such event" });
    expect(failureOf(retryable("busy", 30))).toEqual({
      type: "retryable",
      reason: "busy",
      delayInSeconds: 30,
    });
    expect(failureOf(retryable("busy"))).toMatchObject({ delayInSeconds: 0 });
  });

  it("is retryable by default: a permanent one is a decision", () => {
    for (const error of [
      new Error("x"),
      new TypeError("x"),
      "text",
      undefined,
      null,
      5,
      { type: "permanent" },
    ]) {
      expect(failureOf(error)).toMatchObject({ type: "retryable", delayInSeconds: 0 });
    }
  });

  it.each<[string, () => Error, boolean, string]>([
    ["data that is not ready", () => notReady("202", 5), true, "RetryableFailure"],
    ["a busy provider", () => retryable("busy"), false, "RetryableFailure"],
    ["a missing token", () => waiting("no token", 60), false, "RetryableFailure"],
    ["a missing subject", () => permanent("404"), false, "PermanentFailure"],
    ["an error of a library", () => new Error("data"), false, "Error"],
  ])("waits for the provider's data, or not, and has a name: %s", (_, fail, isWaiting, name) => {
    expect(isNotReady(fail())).toBe(isWaiting);
    expect(fail().name).toBe(name);
  });

  it("never quotes the message of a library's error", () => {
    expect(failureOf(new RangeError("canary")).reason).toBe("RangeError");
    expect(failureOf("canary").reason).toBe("unknown");
    expect(failureOf({ message: "canary" }).reason).toBe("unknown");
  });
});

describe("parsing", () => {
  it("fails permanently with the field's name, and never quotes its value", () => {
    const fields = { empty: "", number: 5, text: "canary", infinite: Number.POSITIVE_INFINITY };
    const failing: [() => unknown, string][] = [
      [() => parseJson("canary{", "the thing"), "the thing is not JSON"],
      [() => fieldsOf(["canary"], "thing"), "thing: expected an object"],
      [() => fieldsOf(null, "thing"), "thing: expected an object"],
      [() => fieldsOf("canary", "thing"), "thing: expected an object"],
      [() => textOf(fields, "empty"), "empty: expected a text"],
      [() => textOf(fields, "number"), "number: expected a text"],
      [() => textOf(fields, "missing"), "missing: expected a text"],
      [() => numberOf(fields, "text"), "text: expected a number"],
      [() => numberOf(fields, "infinite"), "infinite: expected a number"],
      [() => numberOf(fields, "missing"), "missing: expected a number"],
    ];
    for (const [parse, reason] of failing) {
      try {
        parse();
        expect.unreachable(reason);
      } catch (error) {
        expect(failureOf(error)).toEqual({ type: "permanent", reason });
      }
    }
  });

  it("returns undefined for a value of another type", () => {
    const fields = { text: "a", empty: "", yes: true, no: false, number: 0 };
    expect([textOf(fields, "text"), numberOf(fields, "number")]).toEqual(["a", 0]);
    expect(["text", "empty", "yes", "missing"].map((name) => optionalText(fields, name))).toEqual([
      "a",
      undefined,
      undefined,
      undefined,
    ]);
    expect(["yes", "no", "text", "number"].map((name) => optionalBoolean(fields, name))).toEqual([
      true,
      false,
      undefined,
      undefined,
    ]);
  });

  it("leaves out what is undefined, and keeps null, false and 0", () => {
    const fields = present<Record<string, unknown>>({ a: undefined, b: null, c: false, d: 0, e: "" });
    expect(Object.entries(fields)).toEqual(Object.entries({ b: null, c: false, d: 0, e: "" }));
  });
});

describe("an event", () => {
  it("is unordered if it has neither an id nor a time of its own", () => {
    expect(isUnordered({ type: "user.created" })).toBe(true);
    expect(isUnordered({ type: "user.created", time: "2026-01-01T00:00:00.000Z" })).toBe(false);
    expect(isUnordered({ type: "user.created", eventId: "e" })).toBe(false);
  });

  it("is read as it was stored, and refused by the name of its field", () => {
    const event = eventOf("endpoint.updated", {
      userId,
      companyAccountId: "c",
      datasourceId: "d",
      endpoint: "income",
      eventId: "e",
      time: "2026-01-01T00:00:00.000Z",
      connected: false,
      dataAvailable: false,
      dateStart: "2026-01-01",
      dateEnd: "2026-02-01",
      reconciled: true,
    });
    expect(parseEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
    for (const field of ["id", "receivedAt"]) {
      expect(() => parseEvent({ ...event, [field]: "" })).toThrow(`${field}: expected a text`);
    }
  });

  it("has no kinds and types from a prototype", () => {
    for (const name of ["constructor", "__proto__", "toString", "", 0, undefined, null, [webhookKinds[0]]]) {
      expect([isWebhookKind(name), isEventType(name)]).toEqual([false, false]);
    }
  });
});

describe("a canary", () => {
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e";

  it("is a body of a known length that names its id", () => {
    expect(canaryIn(canaryBody(id))).toBe(id);
    expect(Buffer.byteLength(canaryBody(id))).toBe(canaryBytes);
  });

  it.each([
    ` ${canaryBody(id)}`,
    `${canaryBody(id)} `,
    canaryBody("x".repeat(36)),
    canaryBody(`${id}0`),
    "{}",
  ])("is no other body: %s", (body) => {
    expect(canaryIn(body)).toBeUndefined();
  });
});

it("the time since a webhook's receipt is never negative, whatever the clocks", () => {
  expect(millisecondsSince([1, 12], 10)).toEqual([9, 0]);
});

describe("the last change of a record", () => {
  const event: LastChange = { cause: "event", event: eventOf("account.connected"), outcome: "applied" };
  const other: LastChange = { ...event, event: eventOf("account.disconnected") };
  const answer: LastChange = { cause: "answer", at: "2026-01-01T00:00:00.000Z" };
  const again: LastChange = { cause: "again" };

  it.each([
    event,
    again,
    { ...again, correlationId: "c" } as const,
    answer,
    { ...answer, correlationId: "c" } as const,
  ])("is read as it was stored: %o", (change) => {
    expect(parseLastChange(JSON.parse(JSON.stringify(change)))).toEqual(change);
  });

  it("is refused if it is no object", () => {
    expect(() => parseLastChange("event")).toThrow("latest: expected an object");
  });

  it.each([
    ["an event and itself", event, { ...event, outcome: "stale" } as const, true],
    ["two events", event, other, false],
    ["an event and an answer", event, answer, false],
    ["an answer and an event", answer, event, false],
    ["two answers", answer, answer, true],
    ["two repeats", again, again, true],
    ["a repeat and an answer", again, answer, false],
  ])("has the message of another version or not: %s", (_, one, another, isSame) => {
    expect(haveSameMessage(one, another)).toBe(isSame);
  });
});

describe("a failure that is waited for", () => {
  it("says whether it waits for a permit or the provider, and how much its retry may be delayed", () => {
    const common = { type: "retryable", reason: "later", delayInSeconds: 30 };
    expect(failureOf(waiting("later", 30))).toEqual({ ...common, spreadInSeconds: 30, waitsFor: "permit" });
    expect(failureOf(waiting("later", 30, 5))).toMatchObject({ spreadInSeconds: 5 });
    expect(failureOf(unreachable("later", 30, 60))).toEqual({
      ...common,
      spreadInSeconds: 60,
      waitsFor: "provider",
    });
  });

  it("waits a minute for a later release, because an update of all functions takes as long", () => {
    expect(failureOf(laterRelease("later"))).toMatchObject({ delayInSeconds: 60, spreadInSeconds: 0 });
  });

  it.each<[string, () => FailureError, boolean, boolean]>([
    ["a permanent failure", () => permanent("400"), false, false],
    ["a failed call", () => retryable("500"), true, false],
    ["data that is not ready", () => notReady("202"), true, false],
    ["a refused call", () => refusedCall("403"), true, true],
    [
      "a wait for a token that the provider refused",
      () =>
        new FailureError({
          ...{ type: "retryable", reason: "401", delayInSeconds: 1 },
          ...{ waitsFor: "permit", refused: "alone" },
        }),
      true,
      true,
    ],
    ["a wait for a permit", () => waiting("paced", 1), false, false],
    ["a wait for the provider", () => unreachable("down", 1, 1), false, false],
    ["a wait for a later release", () => laterRelease("later"), false, false],
  ])("is an attempt, or one that the provider refused, or neither: %s", (_, fail, isTried, isRefused) => {
    const error = fail();
    expect([isAttempt(error), isRefusedCall(error)]).toEqual([isTried, isRefused]);
    expect(isRefusedCall({ failure: error.failure })).toBe(false);
  });

  it("that is permanent may carry the status of the provider's answer", () => {
    expect(failureOf(permanent("refused", 409))).toEqual({
      type: "permanent",
      reason: "refused",
      status: 409,
    });
    expect(failureOf(permanent("refused"))).not.toHaveProperty("status");
  });
});

describe("a list of texts", () => {
  it("is accepted unchanged, and any other value is refused by name", () => {
    expect(textsOf({ names: ["a", ""] }, "names")).toEqual(["a", ""]);
    expect(textsOf({ names: [] }, "names")).toEqual([]);
    for (const names of [undefined, "a", [1], ["a", null]]) {
      expect(() => textsOf({ names }, "names")).toThrow("names: expected a list of texts");
    }
  });
});
