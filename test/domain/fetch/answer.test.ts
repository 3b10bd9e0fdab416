import { describe, expect, it } from "vitest";
import { FailureError } from "../../../domain/core/failures.ts";
import {
  type AnswerRules,
  type ErrorPlace,
  type Expectation,
  type GivenAnswer,
  readAnswer,
  readsBody,
  Unauthorized,
} from "../../../domain/fetch/answer.ts";

const now = new Date("2026-11-21T12:00:00Z");
const json = "application/json";
const page = "<!doctype html><html><body><h1>We will be back soon</h1></body></html>";

type Given = Partial<Omit<GivenAnswer, "body">> & { readonly body?: string | Uint8Array };

/** Short form of an answer: `wait 7` is a failure that counts, `not ready 7` one that does not. */
function outcome(given: Given, expects: Expectation = "data", error?: ErrorPlace): string {
  const body = Buffer.from(given.body ?? "{}");
  const answer: GivenAnswer = { status: 200, contentType: json, ...given, body };
  const url = "https://provider.example/api/users";
  const rules: AnswerRules = { expects, error, url, now };
  try {
    const read = readAnswer(
      readsBody(answer.status, expects) ? answer : { ...answer, body: Buffer.of() },
      rules,
    );
    if (!read.found) return "absent";
    return read.bytes.byteLength === 0 ? "accepted" : "data";
  } catch (error) {
    if (error instanceof Unauthorized) return error.name;
    if (!(error instanceof FailureError)) throw error;
    const { failure } = error;
    expect(failure.reason).toContain(`the provider answered ${answer.status}`);
    if (failure.type === "permanent") return "refused";
    const { delayInSeconds, waitsFor, refused } = failure;
    if (refused !== undefined) return `forbidden, ${refused}`;
    return `${waitsFor === "data" ? "not ready" : "wait"} ${delayInSeconds}`;
  }
}

const inOneMinute = "Sat, 21 Nov 2026 12:01:00 GMT";
const before = "Sat, 21 Nov 2026 11:00:00 GMT";
const utf16 = (text: string) => Buffer.from(text, "utf16le");
const oddly = (charset: string, body: string | Uint8Array): Given => ({
  contentType: `${json}; charset=${charset}`,
  body,
});

describe("an answer where data is expected", () => {
  it.each<[string, Given, string]>([
    ["200 with an object", { body: '{"data":[]}' }, "data"],
    ["200 with a list", { body: "[]" }, "data"],
    ["200 with null", { body: "null" }, "data"],
    ["200 with a number beyond 2^53", { body: "12345678901234567890" }, "data"],
    ["200 with space around", { body: "\r\n {} \n" }, "data"],
    ["201", { status: 201 }, "data"],
    ["203", { status: 203 }, "data"],
    ["without a content type", { contentType: undefined }, "data"],
    ["with an empty content type", { contentType: "" }, "data"],
    ["JSON as text", { contentType: "text/plain; charset=utf-8" }, "data"],
    ["JSON as bytes", { contentType: "application/octet-stream" }, "data"],
    ["JSON of another family", { contentType: "application/hal+json" }, "data"],
    ["text/json", { contentType: "TEXT/JSON" }, "data"],
    ["application/x-json", { contentType: "application/x-json" }, "data"],
    ["JSON as other bytes", { contentType: "binary/octet-stream" }, "data"],
    ["with a byte order mark", { body: "\uFEFF{}" }, "data"],
    [
      "in ISO-8859-1",
      { contentType: `${json}; charset=ISO-8859-1`, body: Buffer.from('"é"', "latin1") },
      "data",
    ],
    ["in UTF-16", { contentType: `${json}; charset=utf-16le`, body: utf16("{}") }, "data"],
    ["in UTF-16 with a mark alone", { body: utf16("\uFEFF{}") }, "data"],
    ["in UTF-16 without a word", { body: utf16('{"a":"é"}') }, "data"],
    ["in UTF-16 the other way round", { contentType: undefined, body: utf16("[1]").swap16() }, "data"],
    ["in UTF-8 with an unknown charset", oddly("utf8mb4", '"é"'), "data"],
    ["in UTF-16 with an unknown charset", oddly("UTF_16", utf16('"é"')), "data"],
    ["with Retry-After beside data", { retryAfter: "5" }, "data"],

    ["202 with JSON", { status: 202, body: '{"code":202,"message":"try again"}' }, "not ready 0"],
    ["202 with data", { status: 202, body: '{"data":[{"amount":1}]}' }, "not ready 0"],
    ["202 with nothing", { status: 202, body: "" }, "not ready 0"],
    ["202 with HTML", { status: 202, contentType: "text/html", body: page }, "not ready 0"],
    ["202 with Retry-After", { status: 202, retryAfter: "7" }, "not ready 7"],
    ["202 with a fraction", { status: 202, retryAfter: "1.5" }, "not ready 1.5"],
    ["202 with a date", { status: 202, retryAfter: inOneMinute }, "not ready 60"],
    ["202 with a past date", { status: 202, retryAfter: before }, "not ready 0"],
    ["202 with a negative wait", { status: 202, retryAfter: "-7" }, "not ready 0"],
    ["202 with an absurd wait", { status: 202, retryAfter: "99999999999" }, "not ready 39600"],
    ["202 with nonsense", { status: 202, retryAfter: "later" }, "not ready 0"],
    ["204", { status: 204, body: "" }, "not ready 0"],
    ["204 with Retry-After", { status: 204, retryAfter: "30" }, "not ready 30"],
    ["205", { status: 205, body: "" }, "not ready 0"],
    ["425", { status: 425 }, "not ready 0"],
    ["425 with Retry-After", { status: 425, retryAfter: "9" }, "not ready 9"],

    ["HTML", { contentType: "text/html; charset=utf-8", body: page }, "wait 0"],
    ["HTML that is called JSON", { body: page }, "wait 0"],
    ["HTML without a content type", { contentType: undefined, body: page }, "wait 0"],
    ["HTML that is called text", { contentType: "text/plain", body: page }, "wait 0"],
    ["XHTML", { contentType: "application/xhtml+xml", body: page }, "wait 0"],
    ["JSON that is called HTML", { contentType: "text/html" }, "wait 0"],
    ["XML", { contentType: "application/xml", body: "<error/>" }, "wait 0"],
    ...["application/json-seq", "x-application/json", "application/hal+jsonp", "application/x-pdf"].map(
      (contentType): [string, Given, string] => [contentType, { contentType }, "wait 0"],
    ),
    ["HTML with Retry-After", { contentType: "text/html", body: page, retryAfter: "60" }, "wait 60"],
    ["no content", { body: "" }, "wait 0"],
    ["no content and no content type", { body: "", contentType: undefined }, "wait 0"],
    ["nothing but space", { body: " \n" }, "wait 0"],
    ["nothing but a mark", { body: "\uFEFF" }, "wait 0"],
    ["JSON that breaks off", { body: '{"data": [{"id": "' }, "wait 0"],
    ["JSON with more behind it", { body: "{}{}" }, "wait 0"],
    ["a callback", { body: "callback({})" }, "wait 0"],
    ["plain text", { contentType: "text/plain", body: "OK" }, "wait 0"],
    ["a number that is none", { body: "NaN" }, "wait 0"],
    ["bytes that are not UTF-8", { body: Buffer.from('"é"', "latin1") }, "wait 0"],
    ["bytes that are not as claimed", { contentType: `${json}; charset=utf-16`, body: "[1]" }, "wait 0"],
    ["UTF-16 that is called UTF-8", { contentType: `${json}; charset=utf-8`, body: utf16("{}") }, "wait 0"],
    ["UTF-32", { body: Buffer.from("5b0000005d000000", "hex") }, "wait 0"],
    ["ISO-8859-1 with an unknown charset", oddly("klingon", Buffer.from('"é"', "latin1")), "wait 0"],
    ["text with an unknown charset", oddly("UTF_8", "OK"), "wait 0"],
    ["a page with an unknown charset", oddly("UTF_8", page), "wait 0"],
    ["compressed bytes without a word", { body: Buffer.of(0x1f, 0x8b, 8, 0) }, "wait 0"],
    ["201 with HTML", { status: 201, contentType: "text/html", body: page }, "wait 0"],
    ["206", { status: 206, body: '{"data":[]}' }, "wait 0"],

    ["401", { status: 401 }, "Unauthorized"],
    ["401 with Retry-After", { status: 401, retryAfter: "5" }, "Unauthorized"],
    ["403", { status: 403 }, "forbidden, unknown"],
    ["403 with Retry-After", { status: 403, retryAfter: "7" }, "wait 7"],
    ["403 with a fraction", { status: 403, retryAfter: "0.5" }, "wait 0.5"],
    ["403 with a date", { status: 403, retryAfter: inOneMinute }, "wait 60"],
    ["403 with a past date", { status: 403, retryAfter: before }, "wait 0"],
    ["403 with nonsense", { status: 403, retryAfter: "-1" }, "forbidden, unknown"],
    ["404", { status: 404, contentType: "text/html", body: page }, "absent"],
    ["410", { status: 410 }, "absent"],
    ["408", { status: 408 }, "wait 0"],
    ["429", { status: 429 }, "wait 0"],
    ["429 with a fraction", { status: 429, retryAfter: "1.5" }, "wait 1.5"],
    ["429 with a date", { status: 429, retryAfter: inOneMinute }, "wait 60"],
    ["500", { status: 500 }, "wait 0"],
    ["503 with Retry-After", { status: 503, retryAfter: "3600" }, "wait 3600"],
    ["503 with a past date", { status: 503, retryAfter: before }, "wait 0"],
    ["599", { status: 599 }, "wait 0"],
    ["400", { status: 400 }, "refused"],
    ["409", { status: 409 }, "refused"],
    ["422 with Retry-After", { status: 422, retryAfter: "5" }, "refused"],
    ["a picture", { contentType: "image/png", body: Buffer.of(0x89, 0x50) }, "refused"],
    ...[
      ...["application/pdf", "application/zip", "audio/mpeg", "font/woff2", "video/mp4"],
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ].map((contentType): [string, Given, string] => [`a file of ${contentType}`, { contentType }, "refused"]),
    ["301", { status: 301, location: "https://elsewhere.example/" }, "refused"],
    ["308", { status: 308, location: "https://elsewhere.example/" }, "refused"],
    ["304", { status: 304 }, "refused"],

    ["302 to a page about maintenance", { status: 302, location: "/maintenance" }, "wait 0"],
    ["303", { status: 303, location: "https://elsewhere.example/" }, "wait 0"],
    ["307 with Retry-After", { status: 307, retryAfter: "60" }, "wait 60"],
  ])("%s", (_, given, expected) => {
    expect(outcome(given)).toBe(expected);
  });

  it("that refuses names its status alone, without an address", () => {
    const rules = { expects: "data", url: "https://provider.example/api/users", now } as const;
    for (const status of [400, 422, 499]) {
      const failure = { type: "permanent", status, reason: `the provider answered ${status}` };
      expect(() => readAnswer({ status, location: "/x", body: Buffer.of() }, rules)).toThrow(
        expect.objectContaining({ failure }),
      );
    }
  });
});

describe("an answer where only something is to be done", () => {
  it.each<[string, Given, string]>([
    ["200", { body: '{"ok":true}' }, "accepted"],
    ["200 with nothing", { body: "", contentType: undefined }, "accepted"],
    ["202", { status: 202, body: '{"request_id":"r"}' }, "accepted"],
    ["202 with Retry-After", { status: 202, retryAfter: "60" }, "accepted"],
    ["204", { status: 204, body: "" }, "accepted"],
    ["a word", { contentType: "text/plain", body: "OK" }, "accepted"],
    ["a word without a content type", { contentType: undefined, body: "accepted" }, "accepted"],
    ["HTML", { contentType: "text/html", body: page }, "wait 0"],
    ["HTML that is called text", { contentType: "text/plain", body: page }, "wait 0"],
    ["202 with HTML", { status: 202, contentType: "text/html", body: page }, "wait 0"],
    ["JSON that breaks off", { body: '{"ok":' }, "wait 0"],
    ["bytes that are no text", { contentType: undefined, body: Buffer.of(0xff) }, "wait 0"],
    ["206", { status: 206 }, "wait 0"],
    ["425", { status: 425, retryAfter: "3" }, "not ready 3"],
    ["409", { status: 409 }, "refused"],
    ["404", { status: 404 }, "absent"],
  ])("%s", (_, given, expected) => {
    expect(outcome(given, "acceptance")).toBe(expected);
  });
});

describe("an answer of 200 with a place for an error", () => {
  const place = { path: "error.code", means: "failed" } as const;
  it.each<[string, string, string]>([
    ["a text", '{"error":{"code":"PRODUCT_NOT_READY"}}', "wait 0"],
    ["a number", '{"error":{"code":7}}', "wait 0"],
    ["true", '{"error":{"code":true}}', "wait 0"],
    ["an object", '{"error":{"code":{"id":1}}}', "wait 0"],
    ["a list", '{"error":{"code":["late"]}}', "wait 0"],
    ["an error beside data", '{"data":[1],"error":{"code":"late"}}', "wait 0"],
    ["an empty text", '{"error":{"code":""}}', "data"],
    ["a blank text", '{"error":{"code":"  "}}', "data"],
    ["null", '{"error":{"code":null}}', "data"],
    ["false", '{"error":{"code":false}}', "data"],
    ["0", '{"error":{"code":0}}', "data"],
    ["an empty object", '{"error":{"code":{}}}', "data"],
    ["an empty list", '{"error":{"code":[]}}', "data"],
    ["nothing", '{"error":{}}', "data"],
    ["no such object", '{"data":[]}', "data"],
    ["null in its object's place", '{"error":null}', "data"],
    ["a text in its object's place", '{"error":"code"}', "data"],
    ["no object at all", "[1]", "data"],
    ["its name further down", '{"data":{"error":{"code":"x"}}}', "data"],
  ])("that holds %s", (_, body, expected) => {
    expect(outcome({ body }, "data", place)).toBe(expected);
    const means = { ...place, means: "not-ready" } as const;
    expect(outcome({ body, retryAfter: "4" }, "data", means)).toBe(
      expected === "wait 0" ? "not ready 4" : "data",
    );
  });

  it("is an error for actions too, and at a place in a list", () => {
    expect(outcome({ body: '{"error":{"code":"late"}}' }, "acceptance", place)).toBe("wait 0");
    const first = { path: "errors.0.code", means: "failed" } as const;
    expect(outcome({ body: '{"errors":[{"code":"late"}]}' }, "data", first)).toBe("wait 0");
    expect(outcome({ body: '{"errors":[]}' }, "data", first)).toBe("data");
  });

  it("is data if the settings name no such place", () => {
    expect(outcome({ body: '{"error":{"code":"late"}}' })).toBe("data");
  });
});

describe("data", () => {
  const given = (contentType: string | undefined, body: Uint8Array | string) => {
    const answer = { status: 200, contentType, body: Buffer.from(body) };
    return readAnswer(answer, { expects: "data", url: "https://provider.example/", now });
  };

  it.each<[string | undefined, string]>([
    [undefined, json],
    [json, json],
    ["Application/JSON; charset=UTF-8", json],
    ["application/json; charset=utf8", json],
    [
      `application/json; charset=iso-8859-1; note="${"x".repeat(200)}"`,
      "application/json;charset=iso-8859-1",
    ],
    ["application/json;charset=iso-8859-1", "application/json;charset=iso-8859-1"],
    ["application/json; Charset=ISO-8859-1", "application/json; Charset=ISO-8859-1"],
    ["application/hal+json", "application/hal+json"],
    ["text/plain", "text/plain"],
    ["application/json; charset=utf8mb4", json],
    ["application/hal+json; charset=UTF_8", "application/hal+json"],
    [`application/json;charset=iso-8859-1;note=${"é".repeat(9)}`, "application/json;charset=iso-8859-1"],
    ["json", json],
  ])("of type %s is %s", (contentType, expected) => {
    expect(given(contentType, "{}")).toMatchObject({ found: true, contentType: expected });
  });

  it("is kept byte for byte, and read by its charset", () => {
    const bytes = Buffer.from('{"name":"José Muñoz"}', "latin1");
    const answer = given("application/json; charset=ISO-8859-1", bytes);
    expect(answer).toMatchObject({ bytes, text: '{"name":"José Muñoz"}' });
    const marked = Buffer.from('\uFEFF{"name":"é"}');
    expect(given(json, marked)).toMatchObject({ bytes: marked, text: '{"name":"é"}' });
  });
});

describe("an answer that leads elsewhere", () => {
  it.each([
    ["https://user:canary@elsewhere.example/canary?token=canary", "elsewhere.example"],
    ["/elsewhere", "provider.example"],
    ["http://[", "nowhere"],
    [undefined, "nowhere"],
  ])("names the host alone", (location, host) => {
    const rules = { expects: "data", url: "https://provider.example/api/users", now } as const;
    const reason = `the provider answered 308 and leads to ${host}: redirects are not followed; see provider.baseUrls`;
    expect(() => readAnswer({ status: 308, location, body: Buffer.of() }, rules)).toThrow(
      expect.objectContaining({ failure: { type: "permanent", status: 308, reason } }),
    );
  });
});
