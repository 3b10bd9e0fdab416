import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CommandError } from "../../../../packages/cli/core/command-error.ts";
import {
  choiceFlag,
  countFlag,
  periodFlags,
  sinceFlag,
  subjectFlag,
  timestampFlag,
  unknownSubject,
  withoutDocument,
} from "../../../../packages/cli/core/flags.ts";
import { anyCharacter } from "../../../support/any-character.ts";
import { shellWords } from "../../../support/command-line.ts";

const now = new Date("2026-03-02T00:00:00.000Z");

describe("a timestamp", () => {
  it.each([
    ["2026-03-01", "2026-03-01T00:00:00.000Z"],
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01 12:00:00 UTC", "2026-03-01T12:00:00.000Z"],
    ["2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00.000Z"],
    ["30s", "2026-03-01T23:59:30.000Z"],
    ["90m", "2026-03-01T22:30:00.000Z"],
    ["24h", "2026-03-01T00:00:00.000Z"],
    ["7d", "2026-02-23T00:00:00.000Z"],
  ])("is read from %s", (text, timestamp) => {
    expect(timestampFlag("--since", text, now)).toBe(timestamp);
  });

  const others = ["", "yesterday", "2026-02-30", "2026-13-01", "12:00", "7", "-7d", "1e3d", "2026-03"];
  it.each([...others, "999999999d"])("is refused if it is %j, with the flag's name and a remedy", (text) => {
    expect(() => timestampFlag("--since", text, now)).toThrow(/^--since ".*" is not a time\. Write a date/);
  });

  it("is absent without the flag", () => {
    expect(timestampFlag("--since", undefined, now)).toBeUndefined();
  });
});

describe("a time between two flags", () => {
  it("ends after its start, and does not start in the future", () => {
    expect(periodFlags({ since: "2h", until: "1h" }, now)).toEqual({
      since: "2026-03-01T22:00:00.000Z",
      until: "2026-03-01T23:00:00.000Z",
    });
    expect(periodFlags({}, now)).toEqual({ since: undefined, until: undefined });
    expect(() => periodFlags({ since: "1h", until: "1h" }, now)).toThrow("is not before --until");
    expect(() => sinceFlag("2026-03-03", now)).toThrow("is in the future");
  });
});

describe("an end for an unknown subject", () => {
  const id = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";

  it("says of the beginning of an id that it is none, and of a whole one that it may be another kind's", () => {
    const beginning = unknownSubject({ kind: "user", id: id.slice(0, 8) });
    expect(beginning).toMatchObject({ exitCode: 2, message: expect.stringContaining("Write the whole id") });
    const whole = unknownSubject({ kind: "account", id });
    expect(whole).toMatchObject({
      exitCode: 4,
      message: expect.stringContaining(`npx income-events logs ${id}`),
    });
  });

  it("offers a command that has the id as one argument, whatever is in it", () => {
    const id = "u1;touch FILE $(id) it's";
    const wordsOf = ({ message }: CommandError) => shellWords(message.slice(message.indexOf("npx ")));
    expect(wordsOf(unknownSubject({ kind: "user", id }))).toEqual(["income-events", "logs", id]);
    const fetch = wordsOf(withoutDocument({ kind: "user", id }));
    expect(fetch).toEqual(["income-events", "fetch", "user", id, "income"]);
  });
});

it("a count is a whole number above zero", () => {
  expect(countFlag("--limit", "20")).toBe(20);
  for (const text of ["0", "-1", "1.5", "x", "", "9999999999"])
    expect(() => countFlag("--limit", text)).toThrow("--limit");
});

it("a choice is one of the words, and a refusal names them", () => {
  expect(choiceFlag("--kind", "b", ["a", "b"])).toBe("b");
  expect(choiceFlag("--kind", undefined, ["a", "b"])).toBeUndefined();
  expect(() => choiceFlag("--kind", "c", ["a", "b"])).toThrow('--kind "c": write one of a, b.');
});

it("a subject is a user, an account or a company account, and not two or an empty one", () => {
  expect(subjectFlag({ user: "1" })).toEqual({ kind: "user", id: "1" });
  expect(subjectFlag({ account: "1" })).toEqual({ kind: "account", id: "1" });
  expect(subjectFlag({ companyAccount: "1" })).toEqual({ kind: "company-account", id: "1" });
  expect(subjectFlag({})).toBeUndefined();
  expect(() => subjectFlag({ user: "1", companyAccount: "2" })).toThrow("--user and --company-account");
  expect(() => subjectFlag({ account: "" })).toThrow("--account is empty");
});

it("any text is read as what a flag wants, or refused with the flag's name", () => {
  const flags = [
    (text: string) => expect(new Date(timestampFlag("--flag", text, now) ?? "").getTime()).not.toBeNaN(),
    (text: string) => expect(countFlag("--flag", text)).toBeGreaterThan(0),
    (text: string) => expect(choiceFlag("--flag", text, ["a", "b"])).toBe(text),
  ];
  const near = fc.stringMatching(/^[0-9TZ:+smhd. -]{0,25}$/);
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: anyCharacter }), near),
      fc.constantFrom(...flags),
      (text, read) => {
        try {
          read(text);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          expect(error.message).toMatch(/^--flag /);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
