import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { encodedTexts } from "../../../domain/recovery/encoded-texts.ts";
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
    ["what an account is called", '{"account_id":"12345678"}'],
    ["a member that is an account", '{"owner":{"account":{"id":"12345678"}}}'],
    ["one within text", JSON.stringify({ body: '{"owner":{"account":{"id":"12345678"}}}' })],
    ["the address of an account", '{"href":"/accounts/12345678"}'],
    ["the partition of an account", '{"Keys":{"pk":{"S":"ACCOUNT#12345678"}}}'],
    ["an account in what is no JSON", "account_id=12345678"],
    ["the id of an account's own webhook", '{"data":{"id":12345678}}'],
  ])("whose id is no UUID is not mentioned by %s with the same id", (_, text) => {
    expect(mentions([user("12345678")])(text, "accounts")).toBe(false);
    expect(mentions([account("12345678")])(text, "accounts")).toBe(true);
  });

  const ids = [id, "12345678", "4711", "anna-7@example.org", "u 1/2"] as const;
  const bodies: readonly (readonly [string, (id: string) => string])[] = [
    ["account_holder", (any) => JSON.stringify({ account_holder: any })],
    ["account.owner", (any) => JSON.stringify({ account: { owner: any } })],
    ["account.owner.id", (any) => JSON.stringify({ account: { owner: { id: any } } })],
    ["company_user_id", (any) => JSON.stringify({ company_user_id: any })],
    ["companyContact", (any) => JSON.stringify({ companyContact: { personId: any } })],
    ["accounts[].belongs_to", (any) => JSON.stringify({ accounts: [{ id: "x", belongs_to: any }] })],
    ["a key", (any) => JSON.stringify({ accountOwners: { [any]: { share: 1 } } })],
    ["JSON in a string", (any) => JSON.stringify({ payload: JSON.stringify({ accountUser: any }) })],
    ["JSON cut short", (any) => JSON.stringify({ account_owner: any, and: "more" }).slice(0, -8)],
    ["a form", (any) => `event=x&${new URLSearchParams({ account_owner: any })}&at=1`],
    ["a number", (any) => (/^\d+$/.test(any) ? `{"account_holder":${any}.0}` : JSON.stringify([any]))],
  ];
  it.each(bodies.flatMap(([name, bodyOf]) => ids.map((any) => [any, name, bodyOf(any)] as const)))(
    "%s is mentioned by %s: %s",
    (any, _, text) => {
      expect(mentions([user(any)])(text, "accounts")).toBe(true);
    },
  );

  it.each<[string, string]>([
    [id, `account_owner=${id}`],
    [id, JSON.stringify({ next: `https://h.example/?to=${encodeURIComponent(`/accounts/of/${id}`)}` })],
    [id, `to=${encodeURIComponent(encodeURIComponent(`/holder=${id}&x`))}`],
    [id, JSON.stringify({ account_ref: id.replaceAll("-", "").toUpperCase() })],
    [id, JSON.stringify({ account_id: id })],
    [id, `<account owner="{${id.toUpperCase()}}"/>`],
    ["12345678", `to=${encodeURIComponent("/holders/12345678/income")}`],
    ["12345678", "account holder: 12345678."],
    ["1234567890123456789", '{"a":"{\\"account_holder\\":1234567890123456789}"}'],
  ])("with the id %s is mentioned by the text %s", (any, text) => {
    expect(mentions([user(any)])(text)).toBe(true);
  });

  const base64 = (text: string | Uint8Array, as: "base64" | "base64url" = "base64") =>
    Buffer.from(text).toString(as);
  const padded = (any: string) => JSON.stringify({ note: "é".repeat(90), holder: any });
  const encodings: readonly (readonly [string, (id: string) => string])[] = [
    ["a message of a broker", (any) => JSON.stringify({ message: { data: base64(padded(any)) } })],
    ["base64 in lines", (any) => base64(padded(any)).replace(/.{76}/g, "$&\r\n")],
    ["base64 after a path", (any) => `GET /v1/in/${base64(`{"event":"update_user","sub":"${any}"}`)}`],
    ["base64 twice", (any) => JSON.stringify([base64(JSON.stringify({ b: base64(padded(any)) }))])],
    ["a token", (any) => `Bearer e30.${base64(padded(any), "base64url")}.c2ln`],
    ["gzip in base64", (any) => JSON.stringify({ data: base64(gzipSync(padded(any))) })],
    ["zlib in base64", (any) => JSON.stringify({ data: base64(deflateSync(padded(any))) })],
    ["zstd in base64", (any) => JSON.stringify({ data: base64(zstdCompressSync(padded(any))) })],
    ["hexadecimal", (any) => JSON.stringify({ data: Buffer.from(padded(any)).toString("hex") })],
    ["bytes as PostgreSQL writes them", (any) => `\\x${Buffer.from(padded(any)).toString("hex")}`],
    [
      "gzip in hexadecimal after a word",
      (any) => `data${gzipSync(padded(any)).toString("hex").toUpperCase()}`,
    ],
    ["JSON in a form", (any) => `${new URLSearchParams({ payload: JSON.stringify({ owner: any }) })}`],
    ["JSON lines", (any) => `{"a":1}\n{"owner":${/^\d+$/.test(any) ? any : JSON.stringify(any)}}\n`],
    [
      "references of XML",
      (any) => `<o>${[..."{", ...padded(any)].map((c) => `&#${c.charCodeAt(0)};`).join("")}</o>`,
    ],
    [
      "hexadecimal references of XML",
      (any) => `<o>${[...padded(any)].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join("")}</o>`,
    ],
    ["an attribute in HTML", (any) => `<a data-x="{&quot;holder&quot;:&quot;${any}&quot;}">`],
    ["UTF-16", (any) => Buffer.from(`{"holder":"${any}"`, "utf16le").toString()],
  ];
  it.each(encodings.flatMap(([name, bodyOf]) => ids.map((any) => [any, name, bodyOf(any)] as const)))(
    "%s is mentioned in %s: %s",
    (any, _, text) => {
      expect(mentions([user(any)])(text)).toBe(true);
      expect(mentions([user("another-1")])(text)).toBe(false);
    },
  );

  it("counts as mentioned by a text that inflates to more than can be searched", () => {
    const bomb = base64(gzipSync(Buffer.alloc(4_000_000)));
    expect(mentions([user(id)])(JSON.stringify(Array.from({ length: 20 }, () => bomb)))).toBe(true);
    expect(mentions([user(id)])(JSON.stringify([bomb, "x".repeat(2_000_000)]))).toBe(false);
  });

  it.each([
    `user_${id}`,
    `users-${id.toUpperCase()}`,
    `${id}-income.pdf`,
    `x ${id}_statement`,
    `auth0|${id}`,
  ])("with a UUID is mentioned where a word is joined to it: %s", (text) => {
    expect(mentions([user(id)])(text)).toBe(true);
    expect(mentions([user(id)])(JSON.stringify({ key: text }))).toBe(true);
  });

  it("is distinguished from an account with the same id by the word joined to it", () => {
    expect(mentions([user("12345678")])("user_12345678")).toBe(true);
    expect(mentions([user("12345678")])("holder-12345678!")).toBe(true);
    expect(mentions([user("12345678")])("account_12345678")).toBe(false);
  });

  it.each<[string, string]>([
    ["12345678", "123456789"],
    ["12345678", "12345678.9"],
    ["12345678", "x_12345678"],
    ["12345678", "12345678@example.org"],
    ["b7@example.org", "anna.b7@example.org"],
    ["b7@example.org", "a+b7@example.org"],
    ["4711", "47110"],
  ])("%s is not mentioned where %s is, however that is written", (any, longer) => {
    const named = mentions([user(any)], ({ id: own }) => [`USER#${own}`]);
    for (const text of [
      JSON.stringify({ user_id: longer }),
      JSON.stringify({ subject: nameOf(user(longer)), id: `${nameOf(user(longer))}.7` }),
      JSON.stringify({ href: `https://h.example/v1/users/${encodeURIComponent(longer)}/documents/income` }),
      JSON.stringify({ Keys: { pk: { S: `USER#${longer}` } } }),
      `user_id=${encodeURIComponent(longer)}&x=1`,
      `{"user_id":"${longer}"`,
    ])
      expect([text, named(text)]).toEqual([text, false]);
  });

  it("is not mentioned in an address of a longer id that has a slash", () => {
    const href = `https://h.example/v1/users/${encodeURIComponent("12345678/9")}/documents/income`;
    expect(mentions([user("12345678")])(JSON.stringify({ href }))).toBe(false);
    expect(mentions([user("12345678/9")])(JSON.stringify({ href }))).toBe(true);
  });

  it("whose id is a keyword of ours or the provider's is not mentioned by the keyword", () => {
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

  it.each(["1227795846152789711", "1227795846152789711.0", "1.227795846152789711e18"])(
    "with more digits than a number holds is mentioned by %s, its neighbour is not",
    (number) => {
      expect(mentions([user("1227795846152789711")])(`{"user_id":${number}}`)).toBe(true);
      expect(mentions([user("1227795846152789712")])(`{"user_id":${number}}`)).toBe(false);
    },
  );

  it.each([
    ["anna", "customer=anna&at=1", true],
    ["anna", "first_name=anna&at=1", false],
    ["anna", '{"first_name":"anna"', true],
    ["anna-12345", "first_name=anna-12345&at=1", true],
  ])("that is a word counts in a form only under a name of ids: %s in %s: %s", (any, text, isMentioned) => {
    expect(mentions([user(any)])(text)).toBe(isMentioned);
  });

  it("with half a character in its id is mentioned as JSON escapes it", () => {
    const half = "a-12345\ud800";
    for (const text of [JSON.stringify({ user_id: half }), `{"user_id":${JSON.stringify(half)}`])
      expect([half, "b-12345\ud800"].map((any) => mentions([user(any)])(text))).toEqual([true, false]);
  });

  it("with few digits is not mentioned by a number that is no id", () => {
    const named = mentions([user("7")]);
    expect(
      ['{"user_id":"7"}', '{"subject":"user/7"}', '{"body":"{\\"id\\":\\"7\\"}"}'].map((text) => named(text)),
    ).toEqual([true, true, true]);
    expect(
      [
        '{"receipts":7}',
        '{"accounts_number":7}',
        '{"at":"7 o\'clock"}',
        '{"id":"17"}',
        '{"subject":"user/7%2F1"}',
      ].map((text) => named(text)),
    ).toEqual([false, false, false, false, false]);
  });

  it("is found whatever characters its id has, and none without a search", () => {
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

describe("the encodings in a text", () => {
  it.each([
    ["%7Ba%2Fb%23c%26d%3De%3Ff%7d", "{a%2Fb%23c%26d%3De%3Ff}"],
    ["&lt;a&GT;&amp;&apos;&quot;&#65;&#x42;&nbsp;", "<a>&'\"AB&nbsp;"],
    ["&amp;%26lt;", "&%26lt;"],
    ["a\0b\0", "ab"],
  ])("are undone, except what a value would end with: %j", (text, decoded) => {
    expect(encodedTexts(text)).toEqual([decoded]);
  });

  it.each([
    ["base64", Buffer.from("Hello, world").toString("base64"), "Hello, world"],
    ["hexadecimal digits", Buffer.from("Hello, world").toString("hex"), "Hello, world"],
    [
      "20 characters among other bytes",
      Buffer.from(`\xff${"x".repeat(20)}\xff`, "latin1").toString("base64"),
      "x".repeat(20),
    ],
  ])("are undone: %s", (_, text, decoded) => {
    expect(encodedTexts(text)).toContain(decoded);
  });

  it.each([
    ["plain words", "a plain text of words"],
    ["an id", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ["ten characters", "SGVsbG8sIH"],
    ["15 hexadecimal digits", "48656c6c6f2c207"],
  ])("are none in %s", (_, text) => {
    expect(encodedTexts(text)).toEqual([]);
  });

  it("are ignored if fewer than 20 of their characters can be read", () => {
    const bytes = Buffer.from(`\xff${"x".repeat(19)}\xff`, "latin1");
    expect(encodedTexts(bytes.toString("hex"))).toEqual([]);
  });
});
