import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import {
  compareAge,
  hasTokenForm,
  isHalfMarginGone,
  isNearEnd,
  isRefreshDue,
  isShortLived,
  maxTokenBytes,
  remainingInSeconds,
  succeeds,
} from "../../../domain/fetch/token-lifetime.ts";

const settings = { marginFraction: 0.5, refreshEveryMinutes: 15 };
const minute = 60;
const issuedAt = 1_700_000_000;
/** This many seconds after it was issued. */
const at = (seconds: number) => new Date((issuedAt + seconds) * 1000);
const endingAt = (minutes: number) => ({ expiresAt: issuedAt + minutes * minute });
const lived = (minutes: number) => ({ issuedAt, ...endingAt(minutes) });

describe("a refresh is due", () => {
  test("at the share of the lifetime that the settings name", () => {
    const day = lived(1440);
    expect(isRefreshDue(day, at(719 * minute), settings)).toBe(false);
    expect(isRefreshDue(day, at(720 * minute), settings)).toBe(true);
    expect(isRefreshDue(day, at(2000 * minute), settings)).toBe(true);
    expect(isRefreshDue(day, at(1000 * minute), { ...settings, marginFraction: 0.25 })).toBe(false);
  });

  test("three runs and five minutes before the end, if that is earlier than the share", () => {
    expect(isRefreshDue(lived(90), at(39 * minute), settings)).toBe(false);
    expect(isRefreshDue(lived(90), at(40 * minute), settings)).toBe(true);
    expect(isRefreshDue(endingAt(90), at(39 * minute), settings)).toBe(false);
    expect(isRefreshDue(endingAt(90), at(40 * minute), settings)).toBe(true);
  });

  test.each([{}, { issuedAt }])("on every run if the end cannot be read: %j", (lifetime) => {
    expect(isRefreshDue(lifetime, at(0), settings)).toBe(true);
  });

  test("three runs or more before the token's end, whatever its lifetime, settings and clocks (law)", () => {
    const skew = fc.integer({ min: -5 * minute, max: 5 * minute });
    const interval = fc.integer({ min: 10, max: 1440 });
    const fraction = fc.double({ min: 0.05, max: 0.9, noNaN: true });
    const offset = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        skew,
        interval,
        fraction,
        offset,
        (clockSkew, refreshEveryMinutes, marginFraction, phase) => {
          const every = refreshEveryMinutes * minute;
          const end = every * 10;
          // Runs follow our clock, which differs from the provider's by the skew. The first starts at any
          // whole second: rounded sums of fractions would exceed the end.
          const first = Math.floor(phase * every);
          const runs = Array.from({ length: 12 }, (_, index) => first + index * every);
          const due = runs.filter((time) =>
            isRefreshDue({ issuedAt, expiresAt: issuedAt + end }, at(time + clockSkew), {
              marginFraction,
              refreshEveryMinutes,
            }),
          );
          expect(due.filter((time) => time < end).length).toBeGreaterThanOrEqual(3);
        },
      ),
    );
  });
});

describe("a token is near its end", () => {
  test("when half of the margin is gone", () => {
    const day = lived(1440);
    expect(isNearEnd(day, at(1079 * minute), settings)).toBe(false);
    expect(isNearEnd(day, at(1080 * minute), settings)).toBe(true);
    expect(isNearEnd(day, at(2000 * minute), settings)).toBe(true);
  });

  test("if its start cannot be read, by three runs and the clocks' skew", () => {
    expect(isNearEnd(endingAt(90), at(65 * minute), settings)).toBe(false);
    expect(isNearEnd(endingAt(90), at(71 * minute), settings)).toBe(true);
  });

  test.each([{}, { issuedAt }])("never if its end cannot be read: %j", (lifetime) => {
    expect(isNearEnd(lifetime, at(2000 * minute), settings)).toBe(false);
  });

  test("however short its lifetime, only after two runs and more that should have refreshed it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 21, max: 100_000 }),
        fc.integer({ min: 10, max: 1_440 }),
        (lifetime, every) => {
          const known = { marginFraction: 0.5, refreshEveryMinutes: every };
          const due = Array.from({ length: lifetime + 1 }, (_, index) => index).find((passed) =>
            isRefreshDue(lived(lifetime), at(passed * minute), known),
          );
          return !isNearEnd(lived(lifetime), at(((due ?? 0) + 2 * every - 1) * minute), known);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("half of a token's margin is gone", () => {
  test.each([
    ["a day long", lived(1440), 1079, 1080],
    ["shorter than the margin", lived(20), 9, 10],
    ["of an unknown start", endingAt(90), 64, 65],
  ])(
    "when half of the margin is left, or of the lifetime if that is shorter: %s",
    (_, lifetime, before, from) => {
      expect(isHalfMarginGone(lifetime, at(before * minute), settings)).toBe(false);
      expect(isHalfMarginGone(lifetime, at(from * minute), settings)).toBe(true);
    },
  );

  test("if its end cannot be read", () => {
    expect(isHalfMarginGone({ issuedAt }, at(0), settings)).toBe(true);
  });
});

test("a token has time left until its end, less than none after it, and unknown without an end", () => {
  const left = [59, 61].map((seconds) => remainingInSeconds(endingAt(1), at(seconds)));
  expect(left).toEqual([1, -1]);
  expect(remainingInSeconds({ issuedAt }, at(0))).toBeUndefined();
});

test.each([
  [{ token: "a.b.c" }, { token: "a.b.c" }],
  [
    { token: "a.b.c", replaces: "v0" },
    { token: "a.b.c", replaces: "v0" },
  ],
  [{ token: "" }, { token: undefined }],
  [{}, { token: undefined }],
])("the token secret %j is read, and may have no token yet", (stored, expected) => {
  expect(parseTokenSecret(JSON.stringify(stored), "v1")).toEqual({ versionId: "v1", ...expected });
});

test("a token secret that can't be read is refused without quoting it", () => {
  expect(() => parseTokenSecret("canary", "v1")).toThrow(/^the token secret is not JSON$/);
  expect(() => parseTokenSecret('"canary"', "v1")).toThrow(/^the token secret: expected an object$/);
});

test("a token is short-lived if it can end between two runs, clocks' skew included", () => {
  expect(isShortLived(lived(20), settings)).toBe(true);
  expect(isShortLived(lived(21), settings)).toBe(false);
  expect(isShortLived(endingAt(1), settings)).toBe(false);
  expect(isShortLived({ issuedAt }, settings)).toBe(false);
});

test.each([
  ["issued later", { issuedAt: 2, expiresAt: 3 }, { issuedAt: 1, expiresAt: 9 }, 1],
  ["issued earlier", { issuedAt: 1, expiresAt: 9 }, { issuedAt: 2, expiresAt: 3 }, -1],
  ["issued at once, ending later", { issuedAt: 1, expiresAt: 3 }, { issuedAt: 1, expiresAt: 2 }, 1],
  ["of the same times", { issuedAt: 1, expiresAt: 2 }, { issuedAt: 1, expiresAt: 2 }, 0],
  ["of an unknown start, ending earlier", { expiresAt: 1 }, { issuedAt: 1, expiresAt: 2 }, -1],
  ["of unknown times", {}, { issuedAt: 1, expiresAt: 2 }, 0],
])("a token %s is newer, older, or neither", (_, first, second, expected) => {
  expect(Math.sign(compareAge(first, second))).toBe(expected);
  expect(Math.sign(compareAge(second, first)) + expected).toBe(0);
});

/** Tokens with an issue time, such as `@5`; others have none. */
const readLifetime = (token: string) => {
  const issued = /@(\d+)$/.exec(token)?.[1];
  return issued === undefined ? {} : { issuedAt: Number(issued) };
};
const byHand = { versionId: "v1", token: "now@5" };
const refreshed = { ...byHand, replaces: "v0" };

describe("a token succeeds the current one", () => {
  test.each([
    ["if it was refreshed from it", { token: "next@6", replaces: "v1" }, byHand, true],
    ["if it was refreshed from it and claims don't tell", { token: "opaque", replaces: "v1" }, byHand, true],
    ["but not if it is older by its claims", { token: "next@4", replaces: "v1" }, byHand, false],
    ["but not if it is the same", { token: "now@5", replaces: "v1" }, byHand, false],
    ["but not if there is none", { token: undefined, replaces: "v1" }, byHand, false],
    ["not if an operator has set one since", { token: "next@6", replaces: "v0" }, byHand, false],
    ["if another refresh was faster, and it is newer", { token: "next@6", replaces: "v0" }, refreshed, true],
    [
      "not if another refresh was faster with a newer one",
      { token: "next@4", replaces: "v0" },
      refreshed,
      false,
    ],
    ["not if another was faster and nothing tells", { token: "opaque", replaces: "v0" }, refreshed, false],
    ["if it is newer and an earlier release left it", { token: "next@6" }, byHand, true],
    [
      "not where none is set",
      { token: "next@6", replaces: "v1" },
      { versionId: "v1", token: undefined },
      false,
    ],
  ])("%s", (_, next, current, expected) => {
    expect(succeeds(next, current, readLifetime)).toBe(expected);
  });

  test("never in both directions (law)", () => {
    const token = fc.record({
      versionId: fc.constantFrom("v0", "v1", "v2"),
      token: fc.constantFrom("a@1", "b@2", "b@1", "opaque", "other"),
      replaces: fc.constantFrom("v0", "v1", "v2"),
    });
    fc.assert(
      fc.property(token, token, (one, other) => {
        // No version comes from itself, and no two come from each other.
        fc.pre(one.replaces < one.versionId && other.replaces < other.versionId);
        expect(succeeds(one, other, readLifetime) && succeeds(other, one, readLifetime)).toBe(false);
      }),
    );
  });
});

test("a token is a word of visible ASCII of limited length", () => {
  expect(["a", "a.b.c", "~".repeat(maxTokenBytes)].map(hasTokenForm)).toEqual([true, true, true]);
  for (const text of ["", "a b", "a\n", "é", "~".repeat(maxTokenBytes + 1)])
    expect(hasTokenForm(text)).toBe(false);
});
