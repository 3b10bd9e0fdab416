import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hrefOfDocument, hrefOfSubject } from "../../../domain/message/document-reference.ts";
import { versionNotKept } from "../../../domain/read/problem.ts";
import { isWanted, parseVersion, readingModeIn, routeOf } from "../../../domain/read/route.ts";

const route = (target: string, method = "GET") => {
  const { pathname, searchParams } = new URL(target, "https://reads.example");
  return routeOf(method, pathname, searchParams);
};

describe("a path of the read API", () => {
  it.each([
    ["/v1/users/u1", { type: "state", subject: { kind: "user", id: "u1" } }],
    ["/v1/accounts/a1", { type: "state", subject: { kind: "account", id: "a1" } }],
    ["/v1/company-accounts/c1", { type: "state", subject: { kind: "company-account", id: "c1" } }],
    ["/v1/users/u1/accounts", { type: "accounts", userId: "u1" }],
    [
      "/v1/accounts/a1/documents/income?version=17",
      {
        type: "document",
        subject: { kind: "account", id: "a1" },
        name: { endpoint: "income" },
        wanted: { version: 17 },
      },
    ],
    [
      "/v1/company-accounts/c1/documents/income/2026-01-01..2026-01-31?asOf=2026-10-01T00:00:00Z",
      {
        type: "document",
        subject: { kind: "company-account", id: "c1" },
        name: { endpoint: "income", range: { start: "2026-01-01", end: "2026-01-31" } },
        wanted: { asOf: Date.UTC(2026, 9, 1) },
      },
    ],
    [
      "/v1/accounts/a1/documents/income/versions",
      { type: "versions", subject: { kind: "account", id: "a1" }, name: { endpoint: "income" } },
    ],
    [
      "/v1/accounts/a1/documents/income/2026-01-01..2026-01-31/versions",
      {
        type: "versions",
        subject: { kind: "account", id: "a1" },
        name: { endpoint: "income", range: { start: "2026-01-01", end: "2026-01-31" } },
      },
    ],
  ])("%s is understood", (target, expected) => {
    expect(route(target)).toEqual(expected);
  });

  it.each([
    "/",
    "/v2/users/u1",
    "/v1/users",
    "/v1/users/",
    "/v1/events/e1",
    "/v1/users/u1/documents/income",
    "/v1/accounts/a1/documents",
    "/v1/accounts/a1/documents/income/2026-01-01..2026-01-31/more",
    "/v1/accounts/a1/documents/income/versions/versions/versions",
  ])("%s is not found", (target) => {
    expect(route(target)).toMatchObject({ status: 404, type: "urn:income-events:problem:not-found" });
  });

  it.each([
    [`/v1/users/${"x".repeat(10_240)}`, "id"],
    ["/v1/accounts/a1/documents/in%20come", "endpoint"],
    ["/v1/accounts/a1/documents/income/today", "range"],
    ["/v1/accounts/a1/documents/income?version=latest", "version"],
    ["/v1/accounts/a1/documents/income?version=1&asOf=2026-10-01T00:00:00Z", "version"],
    ["/v1/accounts/a1/documents/income?asOf=yesterday", "asOf"],
    ["/v1/accounts/a1/documents/income?page=2", "page"],
    ["/v1/accounts/a1/documents/income/versions?asOf=2026-10-01T00:00:00Z", "asOf"],
  ])("%s is refused, naming %s", (target, field) => {
    expect(route(target)).toMatchObject({
      status: 400,
      type: "urn:income-events:problem:bad-request",
      field,
      detail: expect.stringMatching(`^${field} `),
    });
  });

  it("is read-only", () => {
    expect(route("/v1/users/u1", "DELETE")).toMatchObject({ status: 405 });
  });

  it("in a message or a list leads to its subject and document, whatever the id (law)", () => {
    const kinds = fc.constantFrom("account" as const, "company-account" as const);
    const ids = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" });
    const special = fc.constantFrom(".", "..", "a/b", "a#b", "%2F", "%", "a b", "a?b");
    const ranges = fc.option(
      fc.constantFrom(
        { start: "2026-01-01", end: "2026-01-31 12:00:00 UTC" },
        { start: "2026-01-01 00:00:00+02:00", end: "2026-01-31" },
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(kinds, fc.oneof(ids, special), ranges, (kind, id, range) => {
        const subject = { kind, id };
        const name = range === undefined ? { endpoint: "income" } : { endpoint: "income", range };
        expect(route(hrefOfSubject(subject, "https://reads.example/"))).toEqual({ type: "state", subject });
        const href = hrefOfDocument(subject, name, "https://reads.example/");
        expect(route(href)).toEqual({ type: "document", subject, name, wanted: {} });
      }),
    );
  });
});

it.each([
  [{}, 5, true],
  [{ version: 5 }, 5, true],
  [{ version: 4 }, 5, false],
  [{ asOf: 5 }, 5, true],
  [{ asOf: 4 }, 5, false],
])("who asks for %j gets the current version %i, or not: %s", (wanted, announced, expected) => {
  expect(isWanted(wanted, announced)).toBe(expected);
});

it.each([
  ["17", 17],
  ["0", 0],
  ["9".repeat(15), 999_999_999_999_999],
  ["9".repeat(16), undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["17 ", undefined],
  ["", undefined],
])("the version %j of a document is %s", (text, version) => {
  expect(parseVersion(text)).toBe(version);
});

it.each([
  ["eu-central-1", undefined, "url"],
  ["ca-west-1", undefined, "invoke"],
  [undefined, undefined, "url"],
  ["ca-west-1", "url", "url"],
  ["eu-central-1", "none", "none"],
] as const)("documents in the region %s, where %s is chosen, are read by %s", (region, chosen, mode) => {
  expect(readingModeIn(region, chosen)).toBe(mode);
});

it("a version that is not kept is answered with the address of the newest one", () => {
  expect(versionNotKept("https://reads.example/x")).toMatchObject({
    status: 404,
    newest: "https://reads.example/x",
  });
});
