import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSettings, SettingsError } from "../../../lib/settings/settings.ts";
import { keyArn } from "../synthesized.ts";
import { messageOf, settingsInError } from "./settings-in-error.ts";

/** Lines of the settings' error, without the file's. */
function faultsOf(settings: unknown): string[] {
  return messageOf(() => parseSettings(settings, "f.json"))
    .split("\n")
    .slice(1)
    .map((line) => line.trim());
}

describe("settings with defaults", () => {
  it("need nothing but the choice whether data is protected", () => {
    const settings = parseSettings({ production: false }, "f.json");
    expect(settings.retention.eventsDays).toBe(30);
    expect(settings.subscribers).toEqual([]);
    expect(settings.webhooks.secretHeader).toBe("x-webhook-secret");
    expect(settings.startEndpoints).toContain("profile");
    expect(settings.reconcile.maxDeletions).toEqual({ percent: 5, atLeast: 20 });
    expect(settings.reconcile.askAgainAfterHours).toBe(6);
  });

  it("put the version segments into the specified paths", () => {
    const versions = { api: "v1", refresh: "v0.3", webhooks: "v2", company: "v3" };
    const { paths } = parseSettings({ production: false, provider: { versions } }, "f.json").provider;
    expect(paths).toEqual({
      read: "/api/v1/accounts/{account_id}/{endpoint}",
      readCompany: "/api/v1/company-accounts/{account_id}/{endpoint}",
      account: "/api/v1/accounts/{account_id}",
      companyAccount: "/api/v1/company-accounts/{account_id}",
      users: "/api/v1/users",
      refresh: "/api/v0.3/token/refresh",
      webhooks: {
        users: "/api/v2/webhooks/users",
        accounts: "/api/v2/webhooks/accounts",
        endpoints: "/api/v2/webhooks/endpoints",
      },
      companyWebhooks: "/api/company/v3/webhooks/accounts",
    });
  });

  it("choose the paths of the newer interface by one setting, and let each be replaced", () => {
    const pathsOf = (provider: object) =>
      parseSettings({ production: false, provider: { interface: "0.5", ...provider } }, "f.json").provider
        .paths;
    expect(pathsOf({})).toEqual({
      read: "/api/v0.5/accounts/{account_id}/{endpoint}",
      readCompany: "/company/v0.5/company-accounts/{account_id}/{endpoint}",
      account: "/api/v0.5/accounts/{account_id}",
      companyAccount: "/company/v0.5/company-accounts/{account_id}",
      users: "/api/v0.5/users",
      refresh: "/api/v0.5/token/refresh",
      webhooks: {
        users: "/api/v0.5/webhooks/users",
        accounts: "/api/v0.5/webhooks/accounts",
        endpoints: "/api/v0.5/webhooks/endpoints",
        multiEndpoints: "/api/v0.5/webhooks/multi-endpoints",
      },
      companyWebhooks: "/company/v0.5/webhooks/accounts",
      companyEndpointWebhooks: "/company/v0.5/webhooks/endpoints",
    });
    expect(pathsOf({ versions: { refresh: "v0.3" } }).refresh).toBe("/api/v0.3/token/refresh");
    expect(pathsOf({ paths: { users: "/u" } }).users).toBe("/u");
  });

  it("page by cursor unless they say otherwise, each way with its usual parameter", () => {
    const pagingOf = (paging: object) =>
      parseSettings({ production: false, provider: { paging } }, "x.json").provider.paging;
    const defaults = { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 1_000 };
    expect(pagingOf({})).toEqual(defaults);
    expect(pagingOf({ by: "page" })).toEqual({ ...defaults, by: "page", parameter: "page" });
    expect(pagingOf({ parameter: "after", pageSize: { items: 50 } })).toEqual({
      ...defaults,
      parameter: "after",
      pageSize: { parameter: "limit", items: 50 },
    });
  });

  it("let a subscriber's message be received five times before it is dropped", () => {
    const subscribers = [{ name: "slow", retentionDays: 1, visibilityTimeoutSeconds: 17_280 }];
    expect(() => parseSettings({ production: false, subscribers }, "f.json")).not.toThrow();
  });

  it("let accounts wait for a day, even with ranges of other endpoints", () => {
    const paths = { readRange: { income: "/a/{account_id}/{date_start}/{date_end}" } };
    const settings = { production: false, provider: { paths }, readiness: { endpoints: ["profile"] } };
    const { readiness } = parseSettings(settings, "f.json");
    expect(readiness).toEqual({ endpoints: ["profile"], deadlineHours: 24, users: "all" });
  });

  it("replace one path and keep the others", () => {
    const paths = { read: "/x/{account_id}/{endpoint}?full=1", webhooks: { users: "/hooks/u" } };
    const { provider } = parseSettings({ production: false, provider: { paths } }, "f.json");
    expect(provider.paths.read).toBe("/x/{account_id}/{endpoint}?full=1");
    expect(provider.paths.account).toBe("/api/v0.4/accounts/{account_id}");
    expect(provider.paths.webhooks.users).toBe("/hooks/u");
    expect(provider.paths.webhooks.accounts).toBe("/api/v0.3/webhooks/accounts");
  });

  it("add names of events that are only ignored to the default's, and replace them by names with a type", () => {
    const typesOf = (types: object) =>
      parseSettings({ production: false, mapping: { users: { types } } }, "f.json").mapping.users.types;
    expect(typesOf({ ping: "ignore" })).toMatchObject({ ping: "ignore", create_user: "user.created" });
    expect(typesOf({ create_user: "ignore" })).toMatchObject({ create_user: "ignore" });
    const own = { ping: "ignore", user_added: "user.created" };
    expect(typesOf(own)).toEqual(own);
  });

  it("replace one part of a mapping and keep the others", () => {
    const { mapping } = parseSettings(
      { production: false, mapping: { accounts: { eventId: "id", ids: "any" } } },
      "f.json",
    );
    expect(mapping.accounts).toMatchObject({
      eventId: "id",
      ids: "any",
      type: expect.stringContaining("action || event"),
    });
    expect(mapping.users.ids).toBe("uuid");
  });
});

describe("reserved concurrency", () => {
  const reserved = (reservedConcurrency: number, accountConcurrency?: number) => ({
    production: false,
    ...(accountConcurrency !== undefined && { accountConcurrency }),
    functions: { receive: { reservedConcurrency } },
  });

  it("of the four receivers fits into the account's quota, less what Lambda leaves unreserved", () => {
    const { functions } = parseSettings(reserved(225, 1_000), "f.json");
    expect(functions.receive.reservedConcurrency).toBe(225);
  });

  it.each([
    ["is more than that", 226, 1_000],
    ["is asked of a new account, whose quota is 10", 1, undefined],
  ])("is refused if it %s, naming both settings", (_, each, quota) => {
    expect(faultsOf(reserved(each, quota))).toEqual([
      "functions.receive.reservedConcurrency: is reserved for each of 4 receivers, which is over " +
        "accountConcurrency less the 100 that Lambda leaves unreserved; lower it, leave it out, or have the quota " +
        "raised and set accountConcurrency to it",
    ]);
  });
});

describe("the longest outage", () => {
  const faultsOfFetch = (fetch: object) =>
    faultsOf({ production: true, fetch }).filter((fault) => fault.startsWith("fetch."));

  it("is refused in production, with the remedy, if waits are so short that a task would be rejected earlier", () => {
    expect(faultsOfFetch({ retry: { maxSeconds: 60 } })).toEqual([
      expect.stringMatching(/^fetch\.longestOutageHours: is longer than .*raise fetch\.retry\.maxSeconds/),
    ]);
    expect(faultsOfFetch({ retry: { maxSeconds: 60 }, longestOutageHours: 16 })).toEqual([]);
    expect(faultsOfFetch({ longestOutageHours: 240 })).toEqual([]);
  });
});

describe("encryption", () => {
  const withReader = [{ name: "risk-team", principals: ["210987654321"] }];

  it("with AWS's own key of SQS is refused if another account reads a queue, with the reason", () => {
    const encryption = { queueKey: "alias/aws/sqs" };
    const [fault, ...others] = faultsOf({ production: false, encryption, subscribers: withReader });
    expect(fault).toMatch(
      /^encryption\.queueKey: can't be used by another account, since nobody can change the policy/,
    );
    expect(others).toEqual([]);
    expect(faultsOf({ production: false, encryption, subscribers: [{ name: "mine" }] })).toEqual([]);
    expect(faultsOf({ production: false, encryption: { keyArn }, subscribers: withReader })).toEqual([]);
  });
});

describe("settings in error", () => {
  it.each(settingsInError)("name the setting and the remedy: %s", (_, settings, expected) => {
    const faults = faultsOf({ production: false, ...settings });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(expected);
  });

  it("are reported all at once, each on a line, after the file's name", () => {
    const settings = {
      provider: { vesion: 1, environment: "x" },
      fetch: { maxConcurrency: 0 },
      functions: { register: { timeoutSeconds: 1 } },
      retention: { eventsDays: 1 },
      surplus: 1,
    };
    expect(messageOf(() => parseSettings(settings, "f.json"))).toMatch(/^Settings in f\.json:\n/);
    const paths = faultsOf(settings).map((line) => line.slice(0, line.indexOf(":")));
    expect(paths.sort()).toEqual([
      "fetch.maxConcurrency",
      "production",
      "provider.environment",
      "provider.vesion",
      "retention.eventsDays",
      "surplus",
    ]);
  });

  it("of two checks across settings are both reported", () => {
    const settings = {
      production: true,
      alarms: { emails: ["on-call@example.com"] },
      functions: { fetch: { timeoutSeconds: 1 }, refresh: { timeoutSeconds: 1 } },
    };
    expect(faultsOf(settings).map((line) => line.slice(0, line.indexOf(":")))).toEqual([
      "provider.baseUrls.sandbox",
      "functions.fetch.timeoutSeconds",
      "functions.refresh.timeoutSeconds",
    ]);
  });

  it("stay on their line and can be seen, whatever names and values hold", () => {
    const settings = {
      production: false,
      " retries": 1,
      "a.b\n": 1,
      mapping: { users: { type: "a\u2028\nb" } },
    };
    const faults = faultsOf(settings);
    expect(faults.map((fault) => fault.split(": ")[0])).toEqual(
      expect.arrayContaining(['" retries"', '"a.b\\n"', "mapping.users.type"]),
    );
    expect(faults).toHaveLength(3);
    expect(faults.join("")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });

  it("or in order, whatever JSON they are: each fault begins with a setting's name", () => {
    const names = fc.constantFrom(
      ..."production provider mapping fetch token subscribers paging by".split(" "),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.oneof(names, fc.string()), tie("tree"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(tree, fc.dictionary(names, tree)), (value) => {
        try {
          parseSettings(value, "f.json");
        } catch (error) {
          if (!(error instanceof SettingsError)) throw error;
          const [file, ...faults] = error.message.split("\n");
          expect(file).toBe("Settings in f.json:");
          expect(faults.length).toBeGreaterThan(0);
          for (const fault of faults) expect(fault).toMatch(/^ {2}(the settings|[\w-]+|".*"|\.)+: \S/);
        }
      }),
      { numRuns: 500 },
    );
  });
});
