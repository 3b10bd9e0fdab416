import { httpAnswer, httpEvent } from "@income-events/local-stack/api/http-event.ts";
import { describe, expect, test } from "vitest";

const now = new Date("2026-11-21T12:00:00Z");

function eventOf(request: { target?: string; rawHeaders?: string[]; body?: Buffer } = {}) {
  return httpEvent(
    {
      method: "POST",
      target: "/a",
      rawHeaders: [],
      body: Buffer.alloc(0),
      sourceIp: "127.0.0.1",
      ...request,
    },
    { key: "POST /a", parameters: {} },
    "api1",
    now,
  );
}

describe("an event in payload format 2.0", () => {
  test("has path, query, context and version", () => {
    expect(
      eventOf({ target: "/a%20b?x=1&x=2&y=%C3%A4?", rawHeaders: ["User-Agent", "t", "Host", "h:1"] }),
    ).toEqual({
      version: "2.0",
      routeKey: "POST /a",
      rawPath: "/a%20b",
      rawQueryString: "x=1&x=2&y=%C3%A4?",
      queryStringParameters: { x: "1,2", y: "ä?" },
      headers: { "user-agent": "t", host: "h:1" },
      requestContext: {
        accountId: "anonymous",
        apiId: "api1",
        domainName: "h:1",
        domainPrefix: "api1",
        http: { method: "POST", path: "/a%20b", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "t" },
        requestId: expect.stringMatching(/./),
        routeKey: "POST /a",
        stage: "$default",
        time: expect.stringContaining("2026"),
        timeEpoch: now.getTime(),
      },
      isBase64Encoded: false,
    });
  });

  test("has header names in lower case, repeated ones joined, and cookies apart", () => {
    const { headers, cookies } = eventOf({
      rawHeaders: ["X-A", "1", "x-a", "2", "Cookie", "a=1; b=2", "__proto__", "x"],
    });
    expect(Object.entries(headers)).toEqual([
      ["x-a", "1,2"],
      ["__proto__", "x"],
    ]);
    expect(cookies).toEqual(["a=1", "b=2"]);
  });

  const types = ["text/plain", "application/json; charset=utf-8", "application/cloudevents+json"];
  test.each([
    ...[...types, "application/javascript", "application/xml", "application/x-www-form-urlencoded"].map(
      (type) => [`of type ${type} as text`, type, Buffer.from("ä\0"), "ä\0"] as const,
    ),
    ["of another type in base64", "application/octet-stream", Buffer.from("ab"), "YWI="],
    ["without a type in base64", undefined, Buffer.from("ab"), "YWI="],
    ["that is not UTF-8 in base64", "application/json", Buffer.from([0x22, 0xff, 0x22]), "Iv8i"],
  ] as const)("has a body %s", (name, type, body, expected) => {
    const rawHeaders = type === undefined ? [] : ["content-type", type];
    const isBase64Encoded = name.endsWith("base64");
    expect(eventOf({ rawHeaders, body })).toMatchObject({ body: expected, isBase64Encoded });
  });
});

const json = { "content-type": "application/json" };
const internal = { status: 500, headers: json, body: Buffer.from('{"message":"Internal Server Error"}') };

test.each([
  [
    "as given if it has a statusCode",
    { statusCode: 201, headers: { "X-A": 1 }, cookies: ["a=1"], body: "YQ==", isBase64Encoded: true },
    {
      status: 201,
      headers: { "content-type": "text/plain;charset=UTF-8", "x-a": "1", "set-cookie": ["a=1"] },
      body: Buffer.from("a"),
    },
  ],
  [
    "as the body of a 200 in JSON if it has none",
    { a: 1 },
    { status: 200, headers: json, body: Buffer.from('{"a":1}') },
  ],
  ["as a 500 if its statusCode is no number", { statusCode: "x" }, internal],
  ["as a 500 if its statusCode is none of HTTP", { statusCode: 99 }, internal],
  ["as a 500 if its body is no text", { statusCode: 200, body: {} }, internal],
])("a function's result as an answer is used %s", (_, result, expected) => {
  expect(httpAnswer(JSON.stringify(result))).toEqual(expected);
});
