import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nameOf, productionSettings, type Resource, type Synthesized, synthesized } from "./synthesized.ts";
import { functionOf, local, production, repository, targetOf } from "./synthesized-stages.ts";

/** Whom what a function sends to queues invokes, directly or by way of others, and so on: those that are among these. */
function functionsThatReachThemselves({ ofType }: Synthesized): readonly string[] {
  const sources = ofType("AWS::Lambda::EventSourceMapping");
  const consumersOf = (queue: string) =>
    sources
      .filter(({ Properties }) => targetOf(Properties.EventSourceArn) === queue)
      .map(({ Properties }) => targetOf(Properties.FunctionName));
  const queues = ofType("AWS::SQS::Queue").map(({ id }) => id);
  const invokedBy = new Map(
    ofType("AWS::Lambda::Function").map(({ id, Properties }) => {
      const role = ofType("AWS::IAM::Role").find((each) => nameOf(each.id) === targetOf(Properties.Role));
      const sending = statementsOf(role).filter((statement) => statement.includes('"sqs:SendMessage"'));
      const reached = queues.filter((queue) => sending.some((statement) => statement.includes(`"${queue}"`)));
      return [nameOf(id), reached.flatMap((queue) => consumersOf(nameOf(queue)))] as const;
    }),
  );
  const reaches = (from: string, to: string, seen: readonly string[] = []): boolean =>
    (invokedBy.get(from) ?? []).some(
      (next) => next === to || (!seen.includes(next) && reaches(next, to, [...seen, next])),
    );
  return [...invokedBy.keys()].filter((name) => reaches(name, name)).sort();
}

function statementsOf(role: Resource | undefined): readonly string[] {
  const policies = z
    .array(z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }) }))
    .parse(role?.Properties.Policies);
  return policies.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.map((each) => JSON.stringify(each)),
  );
}

describe("functions", () => {
  const functions = production.ofType("AWS::Lambda::Function");

  it("run on Node 24, arm64, each with a log group of its own", () => {
    const groups = functions.map(({ Properties }) => targetOf(Properties.LoggingConfig));
    expect(new Set(groups).size).toBe(functions.length);
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
        Handler: "index.handler",
      });
    }
  });

  it("write JSON logs, of Lambda itself failures only; the other lines as well where the setting says so", () => {
    const everything = synthesized({ ...productionSettings, logs: { invocations: true } });
    for (const { id, Properties } of functions) {
      const config = { LogFormat: "JSON", ApplicationLogLevel: "INFO" };
      expect(Properties.LoggingConfig).toMatchObject({ ...config, SystemLogLevel: "WARN" });
      const { LoggingConfig } = everything.withId(nameOf(id)).Properties;
      expect(LoggingConfig).toMatchObject({ ...config, SystemLogLevel: "INFO" });
    }
  });

  it("may come back to themselves by way of queues, and no others: erasures and the provider's calls, which end", () => {
    const looping = functions.filter(({ Properties }) => Properties.RecursiveLoop === "Allow");
    const names = looping.map(({ id }) => nameOf(id)).sort();
    expect(names).toEqual(["EraseSubjectsFunction", "FetchDataFunction"]);
    expect(names).toEqual(functionsThatReachThemselves(production));
  });

  it("have logs that expire", () => {
    for (const { Properties } of production.ofType("AWS::Logs::LogGroup")) {
      expect(Properties.RetentionInDays).toBe(30);
    }
  });

  it("are made from entry files that exist", () => {
    const entries = [...production.bundles.keys()].sort();
    const perKind = ["users", "accounts", "endpoints", "company-accounts"];
    expect(entries).toEqual(
      [
        ...perKind.flatMap((kind) => [`functions/receive/${kind}.ts`, `functions/store/${kind}.ts`]),
        "functions/relay/changes.ts",
        "functions/fetch/data.ts",
        "functions/erase/subjects.ts",
        "functions/read/documents.ts",
        "functions/refresh/token.ts",
        "functions/register/webhooks.ts",
        "functions/reconcile/users.ts",
        "functions/archive/dead-letters.ts",
        "functions/protect/creation.ts",
        "functions/protect/table.ts",
      ].sort(),
    );
    expect(entries.filter((entry) => !existsSync(join(repository, entry)))).toEqual([]);
  });

  it("get the rest as settings beside their code", () => {
    const { bundles } = local;
    expect(bundles.get("functions/receive/users.ts")).toEqual({
      secretHeader: "x-webhook-secret",
      credentialFields: ["link", "session"],
      mappedHeaders: [],
      secretCacheSeconds: 60,
      maxBodyBytes: 6 * 1024 * 1024,
    });
    const { bundles: restricted } = synthesized({
      ...productionSettings,
      webhooks: { sourceAddresses: ["203.0.113.0/24"] },
    });
    expect(restricted.get("functions/receive/users.ts")).toMatchObject({
      sourceAddresses: ["203.0.113.0/24"],
    });
    expect(bundles.get("functions/store/accounts.ts")).toMatchObject({
      mapping: { types: { connect_account: "account.connected" } },
      retentionDays: 30,
    });
    expect(bundles.get("functions/relay/changes.ts")).toEqual({
      erasesOnDeletion: false,
      eventSource: "/income-events/local",
      readByRange: ["account"],
      subscribers: [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
    });
    const { bundles: erasing } = synthesized({ ...productionSettings, erasure: { onDeletion: true } });
    expect(erasing.get("functions/relay/changes.ts")).toMatchObject({ erasesOnDeletion: true });
    expect(bundles.get("functions/erase/subjects.ts")).toEqual({
      queues: ["users", "accounts", "endpoints", "company-accounts", "fetch", "checks"],
      eventSource: "/income-events/local",
      // The provider's 3 days, 28 in two queues, 90 as a failed change, and 28 in queues again.
      tombstoneDays: 3 + 28 + 90 + 28,
      // The time-out of fetch here.
      drainSeconds: 5,
      lookAgainSeconds: 0.6,
      subscribers: [{ name: "everything" }, { name: "accounts", types: ["account.*"] }],
    });
    expect(bundles.get("functions/fetch/data.ts")).toMatchObject({
      provider: { requestsPerMinute: 60_000, paths: { start: { body: { endpoints: "{endpoints}" } } } },
      retry: { baseSeconds: 1, maxSeconds: 4 },
      timeoutSeconds: 5,
      readAfterSeconds: 2,
      // As long as the queue keeps a message: a task is given up before SQS drops it.
      retentionSeconds: 14 * 86_400,
      startEndpoints: expect.arrayContaining(["income"]),
    });
    expect(bundles.get("functions/refresh/token.ts")).toMatchObject({
      token: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    });
    expect(bundles.get("functions/register/webhooks.ts")).toMatchObject({
      secretHeader: "x-webhook-secret",
      secretPropagationSeconds: 120,
    });
    expect(bundles.get("functions/reconcile/users.ts")).toMatchObject({
      provider: { paths: { userAccounts: "/api/v0.4/users/{user_id}/accounts" } },
      reconcile: { everyHours: 24, graceMinutes: 0, rereadAfterDays: 30, users: { id: "id || user_id" } },
      ids: { users: "uuid", accounts: "uuid" },
    });
    expect(bundles.get("functions/archive/dead-letters.ts")).toEqual({
      queues: [
        "users",
        "accounts",
        "endpoints",
        "company-accounts",
        "fetch",
        "checks",
        "subscriber/everything",
        "subscriber/accounts",
        "erase",
      ],
      // As long as the dead-letter queues keep a message.
      retentionSeconds: 14 * 86_400,
      beforeEndSeconds: 48 * 3_600,
      timeoutSeconds: 4,
    });
  });

  it("call the settings' address, unless the deployment's parameter names another", () => {
    // A default that held the address would be kept by the next deploy, whatever the settings say by then.
    expect(production.parameters.ProviderBaseUrl).toMatchObject({ Type: "String", Default: "" });
    for (const name of ["FetchData", "RefreshToken", "RegisterWebhooks", "ReconcileUsers"]) {
      expect(functionOf(production, name).Properties.Environment).toMatchObject({
        Variables: {
          PROVIDER_BASE_URL: {
            "Fn::If": [
              "ProviderBaseUrlIsGiven",
              { Ref: "ProviderBaseUrl" },
              "https://api.income-provider.com",
            ],
          },
        },
      });
    }
  });

  it.each([
    ["https://api.provider.com", true],
    ["https://api.provider.com:8443/base/v_1.2", true],
    ["https://api.provider.com/base/", false],
    ["https://API.provider.com", false],
    ["http://127.0.0.1:4010", true],
    ["http://localhost:4010", true],
    ["http://api.provider.com", false],
    ["http://127.0.0.1.provider.com", false],
    ["https://api.provider.com?x=1", false],
    ["", true],
  ])("accept %j as that address: %s", (address, isAccepted) => {
    const pattern = String(production.parameters.ProviderBaseUrl?.AllowedPattern);
    expect(new RegExp(pattern).test(address)).toBe(isAccepted);
  });
});
