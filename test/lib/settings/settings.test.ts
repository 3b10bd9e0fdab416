import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  loadSettings,
  parseSettings,
  SettingsError,
  settingsDigest,
} from "../../../lib/settings/settings.ts";
import { productionSettings } from "../synthesized.ts";

const stages = join(import.meta.dirname, "../../../stages");

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

/** The lines of the error that settings give, without the file's. */
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

  it("replace one path and keep the others", () => {
    const paths = { read: "/x/{account_id}/{endpoint}?full=1", webhooks: { users: "/hooks/u" } };
    const { provider } = parseSettings({ production: false, provider: { paths } }, "f.json");
    expect(provider.paths.read).toBe("/x/{account_id}/{endpoint}?full=1");
    expect(provider.paths.account).toBe("/api/v0.4/accounts/{account_id}");
    expect(provider.paths.webhooks.users).toBe("/hooks/u");
    expect(provider.paths.webhooks.accounts).toBe("/api/v0.3/webhooks/accounts");
  });

  it("replace one part of a mapping and keep the others", () => {
    const { mapping } = parseSettings(
      { production: false, mapping: { accounts: { eventId: "id", ids: "any" } } },
      "f.json",
    );
    expect(mapping.accounts).toMatchObject({ eventId: "id", ids: "any", type: "action || event" });
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
  ])("is refused where it %s, naming both settings", (_, each, quota) => {
    expect(faultsOf(reserved(each, quota))).toEqual([
      "functions.receive.reservedConcurrency: is reserved for each of 4 receivers, which is over " +
        "accountConcurrency less the 100 that Lambda leaves unreserved; lower it, leave it out, or have the quota " +
        "raised and set accountConcurrency to it",
    ]);
  });
});

describe("encryption", () => {
  const own = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
  const withReader = [{ name: "risk-team", principals: ["210987654321"] }];

  it("with AWS's own key of SQS is refused where another account reads a queue, with the reason", () => {
    const encryption = { queueKey: "alias/aws/sqs" };
    const [fault, ...others] = faultsOf({ production: false, encryption, subscribers: withReader });
    expect(fault).toMatch(
      /^encryption\.queueKey: can't be used by another account, since nobody can change the policy/,
    );
    expect(others).toEqual([]);
    expect(faultsOf({ production: false, encryption, subscribers: [{ name: "mine" }] })).toEqual([]);
    expect(faultsOf({ production: false, encryption: { keyArn: own }, subscribers: withReader })).toEqual([]);
  });

  it.each([
    [
      { keyArn: "alias/mine" },
      'keyArn: is "alias/mine"; write the ARN of a symmetric key of KMS in the stage\'s region; an alias is none',
    ],
    [
      { queueKey: own },
      `queueKey: is "${own}"; write "alias/aws/sqs", or set encryption.keyArn to a key of yours`,
    ],
    [
      { keyArn: own, queueKey: "alias/aws/sqs" },
      "queueKey: is another key for the queues than encryption.keyArn; leave one of them out",
    ],
  ])("is refused as %j", (encryption, fault) => {
    expect(faultsOf({ production: false, encryption })).toEqual([`encryption.${fault}`]);
  });
});

describe("a custom domain", () => {
  const certificateArn = "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e";

  it.each([
    [
      { name: "https://hooks.example.com", certificateArn },
      'name: is "https://hooks.example.com"; write a name such as',
    ],
    [{ name: "hooks", certificateArn }, 'name: is "hooks"; write a name such as'],
    [{ name: "hooks.example.com" }, "certificateArn: is missing; write the ARN of a certificate of ACM"],
  ])("is refused as %j", (customDomain, fault) => {
    const [only, ...others] = faultsOf({ production: false, webhooks: { customDomain } });
    expect(only).toContain(`webhooks.customDomain.${fault}`);
    expect(others).toEqual([]);
  });
});

describe("settings in error", () => {
  const provider = "provider";
  const cases: readonly [string, object, string][] = [
    ["production missing", { production: undefined }, "production: is missing; set it to true or false"],
    [
      "an unknown setting",
      { retries: 1 },
      "retries: no such setting; remove it, or correct it to one of: production, provider,",
    ],
    [
      "an unknown setting deep down",
      { fetch: { retry: { tries: 1 } } },
      "fetch.retry.tries: no such setting; remove it, or correct it to one of: baseSeconds, maxSeconds",
    ],
    [
      "a section that is none",
      { fetch: 3 },
      "fetch: is 3; write an object with any of: maxConcurrency, retry, readAfterSeconds, longestOutageHours",
    ],
    [
      "an unknown environment",
      { provider: { environment: "test" } },
      'provider.environment: is "test"; set it to one of: sandbox, production',
    ],
    [
      "a base address that is no https",
      { provider: { baseUrls: { sandbox: "http://provider.com" } } },
      'provider.baseUrls.sandbox: is "http://provider.com"; write an address as https://host, its host in small letters, without query or a slash at its end',
    ],
    [
      "a base address of a second form",
      { provider: { baseUrls: { sandbox: "https://provider.com/" } } },
      'provider.baseUrls.sandbox: is "https://provider.com/"; write an address as https://host, its host in small letters, without query or a slash at its end',
    ],
    [
      "a private base address",
      { provider: { baseUrls: { sandbox: "https://10.0.0.7" } } },
      "provider.baseUrls.sandbox: is a private address; write a public one, or set provider.allowPrivateAddresses to true",
    ],
    [
      "a base address of this machine, written as IPv6",
      { provider: { baseUrls: { production: "https://[::ffff:127.0.0.1]" } } },
      "provider.baseUrls.production: is a private address; write a public one, or set provider.allowPrivateAddresses to true",
    ],
    [
      "a way of paging that is none",
      { provider: { paging: { by: "offset" } } },
      'provider.paging.by: is "offset"; set it to one of: cursor, page, link',
    ],
    [
      "a place in an answer that is none",
      { provider: { paging: { next: "meta..next" } } },
      'provider.paging.next: is "meta..next"; write names joined by dots, such as "meta.next"',
    ],
    [
      "a version that is none",
      { provider: { versions: { api: "4" } } },
      'provider.versions.api: is "4"; write a version segment such as "v0.4"',
    ],
    [
      "an unspecified refresh version",
      { provider: { versions: { refresh: "v0.5" } } },
      'provider.versions.refresh: is "v0.5"; set it to one of: v0.4, v0.3',
    ],
    [
      "an unknown placeholder",
      { provider: { paths: { read: "/{account_id}/{endpoint}/{day}" } } },
      "provider.paths.read: has the unknown placeholder {day}; remove or correct it (known here: account_id, endpoint)",
    ],
    [
      "a read by dates without its last day",
      { provider: { paths: { readRange: "/{account_id}/{endpoint}?from={date_start}" } } },
      "provider.paths.readRange: lacks the placeholder {date_end}; put it where its value belongs",
    ],
    [
      "a missing placeholder",
      { provider: { paths: { account: "/accounts" } } },
      "provider.paths.account: lacks the placeholder {account_id}; put it where its value belongs",
    ],
    [
      "a path without its slash",
      { provider: { paths: { users: "users" } } },
      'provider.paths.users: is "users"; write a path that begins with "/"',
    ],
    [
      "an unknown placeholder in a body",
      { provider: { paths: { start: { path: "/{account_id}", body: { list: ["{endpoint}"] } } } } },
      "provider.paths.start.body: has the unknown placeholder {endpoint}; remove or correct it (known here: endpoints, account_id)",
    ],
    [
      "an invalid expression",
      { mapping: { users: { type: "action ||| event" } } },
      "mapping.users.type: is no JMESPath expression: Invalid jmespath expression: parse error at column 9",
    ],
    [
      "an expression with an unknown function",
      { mapping: { users: { time: "now()" } } },
      "mapping.users.time: is no JMESPath expression: Unknown function: now()",
    ],
    [
      "an expression that is the name of what every object has",
      { mapping: { users: { type: "toString" } } },
      'mapping.users.type: can\'t be compiled; write "@." before it',
    ],
    [
      "a source of a field that is none",
      { mapping: { users: { time: 5 } } },
      'mapping.users.time: is 5; write a JMESPath expression as a text, or {"header": "<name>"}',
    ],
    [
      "a header that may hold a credential",
      { mapping: { accounts: { userId: { header: "authorization" } } } },
      'mapping.accounts.userId.header: is "authorization"; may hold a credential by its name',
    ],
    [
      "a header that is no name",
      { mapping: { accounts: { userId: { header: "Ce-Id" } } } },
      'mapping.accounts.userId.header: is "Ce-Id"; write an HTTP header\'s name in small letters',
    ],
    [
      "the header of the secret as a field of events",
      { webhooks: { secretHeader: "x-hook" }, mapping: { accounts: { userId: { header: "x-hook" } } } },
      "webhooks.secretHeader: carries the secret, which goes to no queue, but the mapping reads it",
    ],
    [
      "an event type that is not ours",
      { mapping: { users: { types: { create_user: "user.made" } } } },
      'mapping.users.types.create_user: is "user.made"; set it to one of: user.created,',
    ],
    [
      "a subscriber's name that is none",
      { subscribers: [{ name: "Risk Team" }] },
      'subscribers.0.name: is "Risk Team"; write a name of small letters, digits and "-"',
    ],
    [
      "a name twice",
      { subscribers: [{ name: "a" }, { name: "a" }] },
      "subscribers: has a name twice; give each subscriber a name of its own",
    ],
    [
      "a type that matches no message",
      { subscribers: [{ name: "a", types: ["acount.*"] }] },
      'subscribers.0.types.0: is "acount.*"; matches no message; write one of: user.created,',
    ],
    [
      "a principal that is none",
      { subscribers: [{ name: "a", principals: ["*"] }] },
      'subscribers.0.principals.0: is "*"; write an account\'s 12 digits, or the ARN of a role or user',
    ],
    [
      "more subscribers than the relay's environment holds",
      { subscribers: Array.from({ length: 13 }, (_, index) => ({ name: `s${index}` })) },
      "subscribers: has too many; keep 12",
    ],
    [
      "a concurrency that SQS refuses",
      { fetch: { maxConcurrency: 1 } },
      "fetch.maxConcurrency: is 1; set it to a whole number from 2 to 1000",
    ],
    [
      "an archive that looks too rarely",
      { archive: { beforeEndHours: 2, everyMinutes: 61 } },
      "archive.everyMinutes: leaves less than two runs before a dead letter's end; lower it, or raise archive.beforeEndHours",
    ],
    [
      "tracing by something that is not offered",
      { tracing: "opentelemetry" },
      'tracing: is "opentelemetry"; set it to one of: off, service',
    ],
    [
      "a longest wait below the shortest",
      { fetch: { retry: { baseSeconds: 9, maxSeconds: 3 } } },
      "fetch.retry.maxSeconds: is below retry.baseSeconds; raise it",
    ],
    [
      "a delay that SQS refuses",
      { fetch: { retry: { maxSeconds: 901 } } },
      "fetch.retry.maxSeconds: is 901; set it to a whole number from 1 to 900, the longest delay of SQS",
    ],
    [
      "an outage without end",
      { fetch: { longestOutageHours: 0 } },
      "fetch.longestOutageHours: is 0; set it to a whole number from 1 to 10000",
    ],
    [
      "a source that is no address",
      { webhooks: { sourceAddresses: ["example.com"] } },
      'webhooks.sourceAddresses.0: is "example.com"; write an address or a network, such as "203.0.113.0/24"',
    ],
    [
      "no source at all",
      { webhooks: { sourceAddresses: [] } },
      "webhooks.sourceAddresses: is []; name one, or leave the setting out",
    ],
    [
      "a throttle that API Gateway refuses",
      { webhooks: { throttle: { requestsPerSecond: 0 } } },
      "webhooks.throttle.requestsPerSecond: is 0; set it to a whole number from 1 to 10000",
    ],
    [
      "a rate that windows can't keep",
      { provider: { requestsPerMinute: 2 } },
      "provider.requestsPerMinute: is 2; set it to a whole number from 3 to 1000000",
    ],
    [
      "a breaker's longest wait below the first",
      { provider: { breaker: { baseSeconds: 9, maxSeconds: 3 } } },
      "provider.breaker.maxSeconds: is below breaker.baseSeconds; raise it",
    ],
    [
      "refreshes that exhaust the secret's versions",
      { token: { refreshEveryMinutes: 5 } },
      "token.refreshEveryMinutes: is 5; set it to a whole number from 10 to 1440",
    ],
    [
      "a path to a user's accounts that names no user",
      { provider: { paths: { userAccounts: "/accounts" } } },
      "provider.paths.userAccounts: lacks the placeholder {user_id}; put it where its value belongs",
    ],
    [
      "an invalid expression for a list",
      { reconcile: { users: { id: "data[" } } },
      "reconcile.users.id: is no JMESPath expression: Invalid jmespath expression: ",
    ],
    [
      "runs that are too far apart",
      { reconcile: { everyHours: 200 } },
      "reconcile.everyHours: is 200; set it to a whole number from 1 to 168",
    ],
    [
      "a comparison that ends before the provider answers",
      { functions: { reconcile: { timeoutSeconds: 10 } } },
      "functions.reconcile.timeoutSeconds: ends before a slow answer; raise it",
    ],
    [
      "a retention shorter than the provider's retries",
      { retention: { eventsDays: 3 } },
      "retention.eventsDays: is 3; set it to a whole number from 4 to 3650: duplicates come for 3 days",
    ],
    [
      "a retention that the provider's retries outlive",
      { retention: { eventsDays: 10 }, webhooks: { retryHours: 240 } },
      "retention.eventsDays: is over before the provider's last retry, which would be a new event; raise it over webhooks.retryHours",
    ],
    [
      "a log retention that CloudWatch does not offer",
      { retention: { logsDays: 2 } },
      "retention.logsDays: is 2; set it to one of: 1, 3,",
    ],
    [
      "a receiver that outlives API Gateway's patience",
      { functions: { receive: { timeoutSeconds: 30 } } },
      "functions.receive.timeoutSeconds: is 30; set it to a whole number from 1 to 29",
    ],
    [
      "a function that ends before the provider answers",
      { functions: { fetch: { timeoutSeconds: 20 } } },
      "functions.fetch.timeoutSeconds: ends before a slow answer; raise it over the sum of provider.timeouts by a tenth",
    ],
    [
      "a header in capitals",
      { webhooks: { secretHeader: "X-Secret" } },
      'webhooks.secretHeader: is "X-Secret"; write an HTTP header\'s name in small letters',
    ],
    [
      "a placeholder address in production",
      {
        production: true,
        alarms: { emails: ["on-call@example.com"] },
        [provider]: { environment: "production" },
      },
      "provider.baseUrls.production: is a placeholder, which a production stage can't call; write the provider's address",
    ],
  ];

  it.each(cases)("name the setting and the remedy: %s", (_, settings, expected) => {
    const faults = faultsOf({ production: false, ...settings });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(expected);
  });

  it("are told all at once, each on a line, after the file's name", () => {
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

  it("of two checks across settings are both told", () => {
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
      "production",
      "provider",
      "mapping",
      "fetch",
      "token",
      "subscribers",
      "paging",
      "by",
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

  it("that are no object at all are refused", () => {
    expect(faultsOf([])[0]).toContain("the settings: is []; write an object");
  });
});

describe("settings files", () => {
  const directory = mkdtempSync(join(tmpdir(), "income-events-settings-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each(["dev", "local"])("of stage %s are valid", (stage) => {
    expect(loadSettings(stage, stages).production).toBe(false);
  });

  it("of stage prod lack only the provider's address, and whom alarms tell", () => {
    const message = messageOf(() => loadSettings("prod", stages));
    expect(message.split("\n")).toHaveLength(3);
    expect(message).toContain("provider.baseUrls.production: is a placeholder");
    expect(message).toContain("alarms: tell nobody");
  });

  it("elsewhere are read in place of the stage's", () => {
    const file = join(directory, "other.json");
    writeFileSync(file, JSON.stringify({ production: false, retention: { eventsDays: 77 } }));
    expect(loadSettings("prod", stages, file).retention.eventsDays).toBe(77);
  });

  it("that are missing are named with the way to give others", () => {
    const message = messageOf(() => loadSettings("nowhere", stages));
    expect(message).toContain("nowhere.json");
    expect(message).toContain("-c settings=FILE");
  });

  it("that are no JSON are named", () => {
    const file = join(directory, "broken.json");
    writeFileSync(file, "{");
    expect(messageOf(() => loadSettings("dev", stages, file))).toContain(`${file}: not JSON`);
  });
});

describe("the digest of settings", () => {
  const digestOf = (settings: object) =>
    settingsDigest(parseSettings({ ...productionSettings, ...settings }, "test"));

  it("is the same for the same settings, whether a default is written or not", () => {
    expect(digestOf({})).toBe(digestOf({}));
    expect(digestOf({ token: { refreshEveryMinutes: 15 } })).toBe(digestOf({}));
  });

  it("is another where anything differs", () => {
    const others = [
      { token: { refreshEveryMinutes: 16 } },
      { startEndpoints: ["profile"] },
      { subscribers: [] },
    ];
    const digests = [{}, ...others].map(digestOf);
    expect(new Set(digests).size).toBe(digests.length);
  });
});
