import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { batchesOf, mutex, roundsOf } from "../../../domain/core/batches.ts";
import {
  canonicalId,
  keyPart,
  loggedName,
  loggedText,
  nameOf,
  parseSubject,
  withUser,
} from "../../../domain/event/subjects.ts";
import { hostileText } from "../samples.ts";

describe("a part of a key", () => {
  it.each([
    ["0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ["a/b#c%2Fd", "a%2Fb%23c%252Fd"],
    ["zoë@example.com", "zoë@example.com"],
    [".", "%2E"],
    ["..", "%2E%2E"],
    ["a..b", "a..b"],
  ])("percent-encodes what joins parts, and nothing else: %s", (text, part) => {
    expect(keyPart(text)).toBe(part);
  });

  it("decodes to its text, so that different texts have different parts", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(decodeURIComponent(keyPart(text))).toBe(text);
      }),
    );
  });

  it("contains no separator, and is no parent directory in a path", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(keyPart(text)).not.toMatch(/[/#]|^\.{1,2}$/);
      }),
    );
  });

  it("is at most three times as long, so that the longest id fits a key of 1,024 bytes", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(Buffer.byteLength(keyPart(text))).toBeLessThanOrEqual(3 * text.length);
      }),
    );
  });
});

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
const bytesOf = (item: number) => item;

test("batches contain all items in order, within both limits, and as many as fit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(20)),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      (items, maxItems, maxBytes) => {
        const batches = batchesOf(items, { maxItems, maxBytes, bytesOf });
        expect(batches.flat()).toEqual(items);
        for (const [index, batch] of batches.entries()) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(maxItems);
          if (batch.length > 1) expect(sum(batch)).toBeLessThanOrEqual(maxBytes);
          const [next] = batches[index + 1] ?? [];
          if (next === undefined) continue;
          expect(batch.length === maxItems || sum(batch) + next > maxBytes).toBe(true);
        }
      },
    ),
  );
});

test("an item over the limit is a batch of its own", () => {
  expect(batchesOf([1, 9, 1], { maxItems: 10, maxBytes: 5, bytesOf })).toEqual([[1], [9], [1]]);
});

test("batches without a limit of bytes are limited by their number of items", () => {
  expect(batchesOf([1, 2, 3], { maxItems: 2 })).toEqual([[1, 2], [3]]);
});

test("a mutex runs functions one at a time in order, and goes on after one that fails", async () => {
  const run = mutex();
  const log: string[] = [];
  const work = (name: string, fails = false) =>
    run(async (hasWaited) => {
      log.push(`${name} begins${hasWaited ? " after others" : ""}`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work("a"), work("b", true), work("c")]);
  expect(results.map((each) => (each.status === "fulfilled" ? each.value : "failed"))).toEqual([
    "a",
    "failed",
    "c",
  ]);
  await work("d");
  expect(log).toEqual([
    ...["a begins", "a ends", "b begins after others", "b ends"],
    ...["c begins after others", "c ends", "d begins", "d ends"],
  ]);
});

describe("rounds", () => {
  const keyOf = ([key = ""]: string) => key;

  it("contain each key at most once, with its items in sequence", () => {
    expect(roundsOf(["a1", "b1", "a2", "c1", "a3", "b2"], keyOf)).toEqual([
      ["a1", "b1", "c1"],
      ["a2", "b2"],
      ["a3"],
    ]);
  });
});

describe("a subject's name in logs", () => {
  const kinds = fc.constantFrom("user" as const, "account" as const, "company-account" as const);

  it("is the same for the subject, its name and the names below it, and never shows its id", () => {
    fc.assert(
      fc.property(kinds, hostileText, (kind, text) => {
        const subject = { kind, id: canonicalId(text) };
        const logged = loggedName(subject);
        expect(logged).toMatch(/^(user|account|company-account)\/[0-9a-f]{16}$/);
        expect(loggedText(nameOf(subject))).toBe(logged);
        expect(loggedText(`${nameOf(subject)}/income`)).toBe(logged);
        expect(logged).toBe(`${kind}/${loggedText(subject.id)}`);
      }),
    );
  });

  it("differs by its id and its kind, but not by the case of a UUID", () => {
    const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    expect(loggedName({ kind: "user", id })).not.toBe(loggedName({ kind: "account", id }));
    expect(loggedText("user/a")).not.toBe(loggedText("user/b"));
    expect(loggedText(`user/${id.toUpperCase()}`)).toBe(loggedName({ kind: "user", id }));
    expect(loggedText(id.toUpperCase())).toBe(loggedText(id));
    expect(loggedText("A-1")).not.toBe(loggedText("a-1"));
  });
});

describe("a stored subject", () => {
  it("is read as it was stored, and refused by the invalid field", () => {
    const subject = { kind: "company-account", id: "c" };
    expect(parseSubject({ ...subject, more: 1 })).toEqual(subject);
    expect(() => parseSubject({ ...subject, kind: "endpoint" })).toThrow("subject.kind: expected");
    expect(() => parseSubject({ ...subject, id: "" })).toThrow("id: expected a text");
    expect(() => parseSubject("c")).toThrow("subject: expected an object");
  });

  it("is followed by its user, if that is known", () => {
    const subject = { kind: "account", id: "a" } as const;
    expect(withUser({ subject })).toEqual([subject]);
    expect(withUser({ subject, userId: "u" })).toEqual([subject, { kind: "user", id: "u" }]);
  });
});
