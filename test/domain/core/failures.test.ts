import { describe, expect, it } from "vitest";
import {
  failureOf,
  isNotReady,
  notReady,
  permanent,
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
  isEventType,
  isUnordered,
  isWebhookKind,
  parseEvent,
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

  it.each([
    [notReady("202", 5), true, "RetryableFailure"],
    [retryable("busy"), false, "RetryableFailure"],
    [waiting("no token", 60), false, "RetryableFailure"],
    [permanent("404"), false, "PermanentFailure"],
    [new Error("data"), false, "Error"],
  ])("waits for the provider's data, or not, and has a name: %s", (error, isWaiting, name) => {
    expect(isNotReady(error)).toBe(isWaiting);
    expect(error.name).toBe(name);
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
