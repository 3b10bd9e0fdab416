import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fillBody,
  fillPath,
  isReadAs,
  longestCallInSeconds,
  parseProviderSettings,
  readPath,
} from "../../../domain/fetch/provider-settings.ts";
import { parseRetrySettings } from "../../../domain/fetch/task.ts";
import { parseSubscribers } from "../../../domain/message/message.ts";
import { parseOwnWebhooks } from "../../../domain/reconcile/registrations.ts";

const provider = {
  paths: {
    read: "/r/{account_id}/{endpoint}",
    readCompany: "/c/{account_id}/{endpoint}",
    account: "/a/{account_id}",
    companyAccount: "/ca/{account_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1000,
  breaker: { failures: 5, baseSeconds: 10, maxSeconds: 300 },
  timeouts: { connectSeconds: 1, headersSeconds: 2, bodySeconds: 3 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 2_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 10 },
  allowPrivateAddresses: true,
};

describe("the provider's settings", () => {
  it("are read as they were written, with and without optional parts", () => {
    expect(parseProviderSettings(provider)).toEqual(provider);
    for (const start of [
      { method: "POST", path: "/s", body: { endpoints: "{endpoints}" } },
      { method: "GET", path: "/s" },
      { method: "PUT", path: "/s", body: null },
    ]) {
      const ranges = { readRange: { income: "/r" }, readCompanyRange: { income: "/rc" } };
      const users = { user: "/u/{user_id}", userAccounts: "/u/{user_id}/a" };
      const full = { ...provider, paths: { ...provider.paths, ...ranges, ...users, start } };
      expect(parseProviderSettings(full)).toEqual(full);
    }
  });

  it("limit a call to the sum of its time limits", () => {
    expect(longestCallInSeconds(provider)).toBe(6);
  });

  it.each(["failed", "not-ready"])(
    "name the field of an answer's error, and that it means %s",
    (errorMeans) => {
      const given = { ...provider, errorPath: "error.code", errorMeans };
      expect(parseProviderSettings(given)).toEqual({
        ...provider,
        error: { path: "error.code", means: errorMeans },
      });
      expect(parseProviderSettings({ ...provider, errorMeans })).toEqual(provider);
    },
  );

  it.each([false, undefined, "true", 1])("allow no private addresses for the value %j", (value) => {
    const settings = parseProviderSettings({ ...provider, allowPrivateAddresses: value });
    expect(settings.allowPrivateAddresses).toBe(false);
  });

  it("are refused with the name of the invalid setting", () => {
    const { paths, timeouts } = provider;
    const broken: [string, unknown][] = [
      ["provider", null],
      ["provider.paths", { ...provider, paths: [] }],
      ["provider.paths.start", { ...provider, paths: { ...paths, start: "POST /s" } }],
      [
        "provider.paths.start.method",
        { ...provider, paths: { ...paths, start: { method: "DELETE", path: "/" } } },
      ],
      ["path", { ...provider, paths: { ...paths, start: { method: "GET" } } }],
      ...Object.keys(paths).map(
        (name) => [name, { ...provider, paths: { ...paths, [name]: "" } }] as [string, unknown],
      ),
      ["provider.timeouts", { ...provider, timeouts: 5 }],
      ...Object.keys(timeouts).map(
        (name) => [name, { ...provider, timeouts: { ...timeouts, [name]: "5" } }] as [string, unknown],
      ),
      ["provider.breaker", { ...provider, breaker: undefined }],
      ...Object.keys(provider.breaker).map(
        (name) => [name, { ...provider, breaker: { ...provider.breaker, [name]: "5" } }] as [string, unknown],
      ),
      ["requestsPerMinute", { ...provider, requestsPerMinute: Number.NaN }],
      ["maxDataBytes", { ...provider, maxDataBytes: "5" }],
      ["provider.paging", { ...provider, paging: undefined }],
      ["provider.errorMeans", { ...provider, errorPath: "error", errorMeans: "maybe" }],
      ["maxResponseBytes", { ...provider, maxResponseBytes: undefined }],
    ];
    for (const [name, value] of broken) {
      expect(() => parseProviderSettings(value), name).toThrow(new RegExp(`^${name}: expected`));
    }
  });

  it("name a webhook path for each kind, and those of the newer interface if they are set", () => {
    const webhooks = { users: "/w/u", accounts: "/w/a", endpoints: "/w/e" };
    const kinds = [
      { name: "users", path: "/w/u" },
      { name: "accounts", path: "/w/a" },
      { name: "endpoints", path: "/w/e" },
      { name: "company-accounts", path: "/w/c" },
    ];
    expect(parseOwnWebhooks({ paths: { webhooks, companyWebhooks: "/w/c" } })).toEqual(kinds);
    const newer = {
      webhooks: { ...webhooks, multiEndpoints: "/w/m", connectEvents: "/w/f" },
      companyWebhooks: "/w/c",
      companyEndpointWebhooks: "/w/ce",
    };
    expect(parseOwnWebhooks({ paths: newer })).toEqual([
      ...kinds,
      { name: "multi-endpoints", path: "/w/m" },
      { name: "company-endpoints", path: "/w/ce" },
      { name: "connect-events", path: "/w/f" },
    ]);
    expect(() => parseOwnWebhooks({ paths: { webhooks } })).toThrow("companyWebhooks: expected a text");
    expect(() => parseOwnWebhooks({ paths: {} })).toThrow("provider.paths.webhooks: expected an object");
    expect(() => parseOwnWebhooks({})).toThrow("provider.paths: expected an object");
    expect(() => parseOwnWebhooks([])).toThrow("provider: expected an object");
  });
});

describe("a path", () => {
  const account = (id: string) => ({ kind: "account", id }) as const;

  it("is filled with the subject and the endpoint", () => {
    expect(fillPath("/accounts/{account_id}/{endpoint}", account("a-1"), "income")).toBe(
      "/accounts/a-1/income",
    );
    expect(fillPath("/users/{user_id}", { kind: "user", id: "u-1" })).toBe("/users/u-1");
    expect(fillPath("/a/{account_id}?from={date_start}&to={date_end}", account("a"))).toBe("/a/a?from=&to=");
  });

  describe("that reads a document", () => {
    const paths = {
      ...provider.paths,
      readRange: { income: "/a/{account_id}/{endpoint}?from={date_start}&to={date_end}" },
      readCompanyRange: { payroll: "/c/{account_id}/payroll/{date_start}/{date_end}" },
    };
    const a = account("a-1");
    const company = { kind: "company-account", id: "c-1" } as const;
    const range = { start: "2026-01-01", end: "2026-01-31 00:00:00+01:00" };
    const to = "2026-01-31%2000%3A00%3A00%2B01%3A00";

    it.each([
      [a, { endpoint: "income", range }, `/a/a-1/income?from=2026-01-01&to=${to}`],
      [company, { endpoint: "payroll", range }, `/c/c-1/payroll/2026-01-01/${to}`],
      [a, { endpoint: "profile" }, "/r/a-1/profile"],
      [company, { endpoint: "income" }, "/c/c-1/income"],
    ])("of %j: %j is that of the full document, or of the range with its dates", (subject, name, path) => {
      expect(readPath({ paths }, subject, name)).toBe(path);
      expect(isReadAs({ paths }, subject, name)).toBe(true);
    });

    it.each([
      [a, { endpoint: "income" }, "income is read by ranges of dates, and the event names none"],
      [company, { endpoint: "payroll" }, "payroll is read by ranges of dates, and the event names none"],
      [a, { endpoint: "profile", range }, "profile is read whole; have it fetched without dates"],
      [a, { endpoint: "payroll", range }, "payroll is read whole; have it fetched without dates"],
      [company, { endpoint: "income", range }, "income is read whole; have it fetched without dates"],
      [a, { endpoint: "toString", range }, "toString is read whole; have it fetched without dates"],
    ])("of %j: %j is refused: documents would overlap", (subject, name, reason) => {
      expect(() => readPath({ paths }, subject, name)).toThrow(reason);
      expect(isReadAs({ paths }, subject, name)).toBe(false);
    });
  });

  it("leads to no other path, whatever an id or an endpoint contains", () => {
    const part = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom("../x", "a/b", "?a=b", "#", "%2e", "{endpoint}", "$&", "http://x", "\\", "@host"),
    );
    fc.assert(
      fc.property(part, part, (id, endpoint) => {
        fc.pre(![".", ".."].includes(id) && ![".", ".."].includes(endpoint));
        const url = new URL(
          `https://provider.test/v1${fillPath("/a/{account_id}/{endpoint}", account(id), endpoint)}`,
        );
        expect(url.host).toBe("provider.test");
        expect([url.search, url.hash]).toEqual(["", ""]);
        expect(url.pathname.split("/").map(decodeURIComponent)).toEqual(["", "v1", "a", id, endpoint]);
      }),
      { numRuns: 300 },
    );
  });

  it("is refused if a part would lead to another path", () => {
    for (const dots of [".", ".."]) {
      expect(() => fillPath("/a/{account_id}", account(dots))).toThrow(
        "account's id: can't be part of a path",
      );
      expect(() => fillPath("/a/{endpoint}", account("a"), dots)).toThrow(
        "endpoint: can't be part of a path",
      );
    }
  });
});

describe("a start's body", () => {
  const account = { kind: "account", id: "a$&b" } as const;

  it("is filled in wherever it names the account and the endpoints, and keeps the rest", () => {
    const template = {
      endpoints: "{endpoints}",
      list: ["id {account_id}", 5, null, true],
      n: { a: "{account_id}" },
    };
    expect(fillBody(template, account, ["income"])).toEqual({
      endpoints: ["income"],
      list: ["id a$&b", 5, null, true],
      n: { a: "a$&b" },
    });
  });
});

describe("a retry", () => {
  const settings = { baseSeconds: 2, maxSeconds: 300 };

  it("has invalid settings refused by name", () => {
    expect(parseRetrySettings(settings)).toEqual(settings);
    for (const name of Object.keys(settings)) {
      expect(() => parseRetrySettings({ ...settings, [name]: undefined })).toThrow(
        `${name}: expected a number`,
      );
    }
  });
});

describe("the subscribers", () => {
  it("are read with and without types", () => {
    expect(parseSubscribers([{ name: "a" }, { name: "b", types: ["user.*"] }])).toEqual([
      { name: "a" },
      { name: "b", types: ["user.*"] },
    ]);
  });

  it("are refused by name", () => {
    expect(() => parseSubscribers({})).toThrow("subscribers: expected a list");
    expect(() => parseSubscribers(["a"])).toThrow("subscribers: expected an object");
    expect(() => parseSubscribers([{ types: [] }])).toThrow("name: expected a text");
  });
});
