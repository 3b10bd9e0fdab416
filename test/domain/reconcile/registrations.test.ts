import { describe, expect, test } from "vitest";
import { parseRefreshOutcome } from "../../../domain/fetch/refresh-outcomes.ts";
import {
  parseRegistrations,
  type Registration,
  registrationAt,
  webhookUrlOf,
} from "../../../domain/reconcile/registrations.ts";

const known = { kind: "users", deployed: "https://api.example/webhooks/users" } as const;

describe("a list of registrations", () => {
  test("is read as it was written", () => {
    const webhooks: readonly Registration[] = [
      { ...known, type: "here" },
      { ...known, type: "none" },
      { ...known, type: "elsewhere", url: "https://other.example" },
      { ...known, type: "untold", reason: "the provider answered 405" },
    ];
    expect(parseRegistrations(JSON.parse(JSON.stringify({ webhooks })))).toEqual(webhooks);
  });

  test.each([
    ["nothing", undefined, "the list of webhooks: expected an object"],
    ["no list", { webhooks: {} }, "webhooks: expected a list"],
    [
      "another kind",
      { webhooks: [{ ...known, kind: "payslips", type: "here" }] },
      "a kind that this release",
    ],
    ["another state", { webhooks: [{ ...known, type: "moved" }] }, "a state that this release"],
    ["elsewhere without an address", { webhooks: [{ ...known, type: "elsewhere" }] }, "url: expected a text"],
  ])("is refused where it has %s", (_, value, reason) => {
    expect(() => parseRegistrations(value)).toThrow(reason);
  });
});

test.each(["https://api.example/webhooks", "https://api.example/webhooks/"])(
  "a kind's webhooks go below %s, with one slash between",
  (webhooksUrl) => {
    expect(webhookUrlOf(webhooksUrl, "users")).toBe("https://api.example/webhooks/users");
  },
);

test("what came of a refresh is read, and an outcome of another release is refused", () => {
  expect(parseRefreshOutcome({ outcome: "kept" })).toBe("kept");
  expect(() => parseRefreshOutcome({ outcome: "postponed" })).toThrow(
    "an outcome that this release does not know",
  );
  expect(() => parseRefreshOutcome(null)).toThrow("the refresh: expected an object");
});

describe("what is registered", () => {
  test("is here where the provider names the very address that is deployed, and elsewhere at any other", () => {
    const { kind, deployed } = known;
    expect(registrationAt(kind, deployed, deployed)).toEqual({ kind, deployed, type: "here" });
    const url = `${deployed}/`;
    expect(registrationAt(kind, deployed, url)).toEqual({ kind, deployed, type: "elsewhere", url });
  });
});
