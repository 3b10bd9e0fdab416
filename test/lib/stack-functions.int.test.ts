import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nameOf, productionSettings, type Resource, type Synthesized, synthesized } from "./synthesized.ts";
import { functionOf, local, production, targetOf } from "./synthesized-stages.ts";

/** Functions that their own messages invoke again, directly or through others. */
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

  it("write JSON logs, with only failures of Lambda itself, or all of its lines with a setting", () => {
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

  it("know their names, by which their log lines are found", () => {
    const names = functions.map(({ Properties }) => Object(Properties.Environment).Variables.FUNCTION_NAME);
    expect(names.toSorted()).toEqual([...production.bundles.keys()].toSorted());
    expect(names).toContain("receive/company-accounts");
  });

  it("get the stage's settings beside their code", () => {
    const webhooks = { sourceAddresses: ["203.0.113.0/24"] };
    const provider = { ...productionSettings.provider, paths: { user: "/users/{user_id}" } };
    const erasure = { onDeletion: true };
    const { bundles } = synthesized({ ...productionSettings, provider, webhooks, erasure });
    expect(bundles.get("receive/users")).toEqual({
      kind: "users",
      ...webhooks,
      secretHeader: "x-webhook-secret",
      credentialFields: ["link", "session"],
      mappedHeaders: { users: [] },
      answerProbes: false,
      secretCacheSeconds: 60,
      maxBodyBytes: 6 * 1024 * 1024,
    });
    expect(bundles.get("relay/changes")).toMatchObject({ erasesOnDeletion: true });
    expect(local.bundles.get("relay/changes")).toMatchObject({ erasesOnDeletion: false });
    expect(local.bundles.get("erase/subjects")).toMatchObject({
      // The provider's 3 days, 28 in two queues, 90 as a failed change, and 28 in queues again.
      tombstoneDays: 3 + 28 + 90 + 28,
      // The time-out of fetch here.
      drainSeconds: 5,
    });
    expect(local.bundles.get("fetch/data")).toMatchObject({
      timeoutSeconds: 5,
      // As long as the queue keeps a message: a task is rejected before SQS drops it.
      retentionSeconds: 14 * 86_400,
    });
    expect(local.bundles.get("reconcile/users")).toMatchObject({
      reconcile: { everyHours: 24, graceMinutes: 0, rereadAfterDays: 30 },
      ids: { users: "uuid", accounts: "uuid" },
    });
  });

  it("get the secret's header and scheme, and whether to answer probes", () => {
    const header = { secretHeader: "authorization", secretScheme: "Bearer" };
    const { bundles, outputs } = synthesized({
      ...productionSettings,
      webhooks: { ...header, answerProbes: true },
      canary: { everyMinutes: 15 },
    });
    for (const entry of ["receive/users", "receive/other-paths"])
      expect(bundles.get(entry)).toMatchObject({ ...header, answerProbes: true });
    for (const entry of ["register/webhooks", "canary/events"])
      expect(bundles.get(entry)).toMatchObject(header);
    expect(outputs).toMatchObject({
      WebhookSecretHeader: { Value: "authorization" },
      WebhookSecretScheme: { Value: "Bearer" },
    });
  });

  it("call the settings' address, unless the deployment's parameter names another", () => {
    // The next deployment would keep a default URL, whatever the settings.
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

  // A private URL only for local calls: otherwise the token could not be proven.
  it.each([
    ["https://api.provider.com", true, true],
    ["https://api.provider.com:8443/base/v_1.2", true, true],
    ["https://api.provider.com/base/", false, false],
    ["https://API.provider.com", false, false],
    ["http://127.0.0.1:4010", false, true],
    ["http://localhost:4010", false, true],
    ["https://localhost", false, true],
    ["https://10.0.0.7", false, true],
    ["https://[::1]:8443", false, true],
    ["http://api.provider.com", false, false],
    ["http://127.0.0.1.provider.com", false, false],
    ["https://api.provider.com?x=1", false, false],
    ["", true, true],
  ])("accept %j as that address: %s, with private addresses allowed: %s", (address, isPublic, isAllowed) => {
    const isAccepted = (stack: typeof production) =>
      new RegExp(String(stack.parameters.ProviderBaseUrl?.AllowedPattern)).test(address);
    expect([isAccepted(production), isAccepted(local)]).toEqual([isPublic, isAllowed]);
  });
});
