import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import { mentions } from "../../../domain/recovery/mentions.ts";
import { hostileText } from "../samples.ts";

const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
const user = (of: string): Subject => ({ kind: "user", id: of });
const account = (of: string): Subject => ({ kind: "account", id: of });

describe("a subject", () => {
  it.each<[string, string]>([
    ["as a text", JSON.stringify({ user_id: id })],
    ["in upper case", JSON.stringify({ user_id: id.toUpperCase() })],
    ["escaped", `{"user_id":"\\u0030${id.slice(1)}"}`],
    ["within text in JSON", JSON.stringify({ body: JSON.stringify({ user_id: id }) })],
    ["in a name", JSON.stringify({ subject: `user/${id}.7` })],
    ["in an address", JSON.stringify({ href: `https://provider.example/users/${id.toUpperCase()}?x=1` })],
    ["as the name of a member", JSON.stringify({ users: { [id]: {} } })],
    ["in what is no JSON", `user_id=${id}&x=1`],
    ["in what is no JSON, in upper case", `user_id=${id.toUpperCase()}`],
    ["escaped in what is no JSON", `{"user_id":"\\u0030${id.slice(1)}"`],
    ["at the end", `x ${id}`],
    ["in a record of the stream", JSON.stringify({ Keys: { pk: { S: `USER#${id}` } } })],
    ["beneath what is nested very deeply", `${"[".repeat(200_000)}"${id}"${"]".repeat(200_000)}`],
  ])("is mentioned %s", (_, text) => {
    expect(mentions([user("another-one"), user(id)])(text)).toBe(true);
  });

  it.each<[Subject, string]>([
    [user("u1"), JSON.stringify({ subject: "user/u1.7" })],
    [user("u1"), JSON.stringify({ Keys: { pk: { S: "USER#u1/x" } } })],
    [user("back\\slash"), JSON.stringify({ subject: { kind: "account", id: "back\\slash" } })],
    [user("1234567890123456789"), '{"subject":{"kind":"account","id":"1234567890123456789"}}'],
  ])("of the name %j is not mentioned where another's is: %s", (subject, text) => {
    expect(mentions([subject], ({ id: own }) => [`USER#${own}`])(text)).toBe(false);
  });

  it.each<[string, string]>([
    ["123456789", '{"user_id": 123456789}'],
    ["7", '{"user_id": 7}'],
    ["7", '{"data":{"id": 7.0}}'],
    ["12345678901234567890", '{"user_id": 12345678901234567890}'],
    ["a/b", '{"user_id": "a\\/b"}'],
    ["a/b", '{"subject": "user/a%2Fb/income"}'],
    ["a/b", 'user_id="a/b"'],
  ])("with the id %s is mentioned by %s", (any, text) => {
    expect(mentions([user(any)])(text, "users")).toBe(true);
  });

  it.each([`${id}0`, `x${id}`, `-${id}`, id.slice(1), "another"])(
    "is not mentioned by a longer id or another one: %s",
    (other) => {
      expect(mentions([user(id)])(JSON.stringify({ user_id: other }))).toBe(false);
      expect(mentions([user(id)])(`user_id=${other}`)).toBe(false);
    },
  );

  it.each<[string, string]>([
    ["what an account is called", `{"account_id":"${id}"}`],
    ["the address of an account", `{"href":"/accounts/${id}"}`],
    ["the partition of an account", `{"Keys":{"pk":{"S":"ACCOUNT#${id}"}}}`],
    ["an account in what is no JSON", `account_id=${id}`],
    ["the id of an account's own webhook", `{"id":"${id}"}`],
  ])("is not mentioned by %s with the same id", (_, text) => {
    expect(mentions([user(id)])(text, "accounts")).toBe(false);
    expect(mentions([account(id)])(text, "accounts")).toBe(true);
  });

  it("whose id is a word of ours or the provider's is not mentioned where the word stands for itself", () => {
    const texts: readonly (readonly [string, string])[] = [
      ["accounts", '{"schemaVersion":1,"kind":"accounts","subject":{"kind":"account","id":"x"}}'],
      ["connect_account", '{"action":"connect_account","account_id":"x"}'],
      ["STATE", '{"Keys":{"pk":{"S":"USER#x"},"sk":{"S":"STATE"}}}'],
      ["income", '{"endpoint":"income"}'],
      ["accounts", '{"kind":"accounts"'],
    ];
    for (const [word, text] of texts) {
      expect(mentions([user(word), account(word)])(text)).toBe(false);
    }
    expect(mentions([user("accounts")])('{"user_id":"accounts"}')).toBe(true);
  });

  it("with few digits is not mentioned by a number that is no id", () => {
    const named = mentions([user("7")]);
    expect(
      ['{"user_id":"7"}', '{"subject":"user/7"}', '{"body":"{\\"id\\":\\"7\\"}"}'].map((text) => named(text)),
    ).toEqual([true, true, true]);
    expect(
      ['{"receipts":7}', '{"at":"7 o\'clock"}', '{"id":"17"}', '{"subject":"user/7%2F1"}'].map((text) =>
        named(text),
      ),
    ).toEqual([false, false, false, false]);
  });

  it("is found whatever characters its id has, and none is found where none is asked for", () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.string({ minLength: 1 })), fc.jsonValue(), (any, beside) => {
        const text = JSON.stringify({ beside, user: any });
        expect(mentions([user(any)])(text)).toBe(true);
        expect(mentions([])(text)).toBe(false);
      }),
    );
  });

  it("is found in any JSON, or none, without an error", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), hostileText), (text) => {
        expect(mentions([user("nobody at all")])(text)).toBe(false);
      }),
    );
  });
});
