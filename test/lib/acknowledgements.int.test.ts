import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack, Validations } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import * as s3 from "aws-cdk-lib/aws-s3";
import * as secretsmanager from "aws-cdk-lib/aws-secretsmanager";
import {
  AwsSolutionsChecks,
  HIPAASecurityChecks,
  type NagPack,
  NIST80053R5Checks,
  PCIDSS321Checks,
} from "cdk-nag";
import type { Construct } from "constructs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acknowledge } from "../../lib/acknowledgements.ts";
import { allow } from "../../lib/function/permissions.ts";
import { PipelineFunction } from "../../lib/function/pipeline-function.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { addTo, customDomain, keyArn, productionSettings, quickApp, synthesized } from "./synthesized.ts";

const standIn = () => lambda.Code.fromInline("// stand-in");
const stackOf = (app: App, written: object) =>
  new IncomeEventsStack(app, "income-events-test", {
    stage: "test",
    written,
    where: "test settings",
    codeOf: standIn,
  });

describe("the checks at synth", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "income-events-checks-"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** An app checked as in `cdk synth`, without CDK's own validation, which takes seconds. */
  function checked(fill: (app: App) => void) {
    const app = quickApp({ outdir: mkdtempSync(join(directory, "assembly-")) });
    fill(app);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    return app.synth();
  }

  const vaultArn = "arn:aws:backup:eu-west-1:210987654321:backup-vault:v1";
  const twelve = Array.from({ length: 12 }, (_, index) => ({
    name: `subscriber-${index}`,
    principals: [`arn:aws:iam::210987654321:role/reader-${index}`],
  }));
  it.each<[string, object, ...object[]]>([
    ["traces, a canary and a custom domain", { tracing: "service", canary: {}, webhooks: { customDomain } }],
    ["a key of its own and backups", { encryption: { keyArn }, recovery: { vaultArn } }],
    ["12 subscribers and a dashboard", { subscribers: twelve, dashboard: true }],
    ["12 subscribers and no function URL", { subscribers: twelve, reading: "invoke" }],
    ["no reading", { subscribers: [{ name: "a", documents: "inline" }], reading: "none" }],
    ["two pipelines", {}, { register: { enabled: false } }],
  ])("find nothing in production that is not acknowledged: %s", (_, ...changes) => {
    const synthesize = () =>
      checked((app) => {
        const add = addTo(new Stack(app, "Mine", { env: { region: "eu-central-1" } }));
        for (const [index, change] of changes.entries())
          add(`Events${index}`, { ...productionSettings, ...change });
      });
    expect(synthesize).not.toThrow();
  });

  it.each([
    ["S1", (scope: Construct) => new s3.Bucket(scope, "Own", { enforceSSL: true })],
    ["SMG4", (scope: Construct) => new secretsmanager.Secret(scope, "Own")],
  ])("report resources that an app adds below the construct: %s", (rule, add) => {
    const plant = () => checked((app) => void add(stackOf(app, productionSettings).events));
    expect(plant).toThrow(`AwsSolutions-${rule}`);
  });

  it("end the synthesis with a finding that nothing acknowledges", () => {
    const plant = () => checked((app) => new s3.Bucket(new Stack(app, "Planted"), "Open"));
    expect(plant).toThrow("AwsSolutions-S1");
  });
});

describe("an acknowledgement", () => {
  const stack = () => new Stack(new App(), "Test");

  it.each(["", "fine", "because it has to be so", "no capital letter at the beginning of this one."])(
    'is refused with the reason "%s": it is no sentence',
    (reason) => {
      expect(() => acknowledge(stack(), { finding: "AwsSolutions-S1", reason })).toThrow(
        "needs a reason of a sentence",
      );
    },
  );
});

describe("the packs of NIST, PCI and HIPAA", () => {
  /** Rules that production violates, without the pack's name, and the number of resources. */
  function findingsOf(Pack: new (scope: App) => NagPack, written: object): ReadonlyMap<string, number> {
    const app = quickApp();
    const stack = stackOf(app, written);
    stack.events.complete();
    const { violations } = new Pack(app).validateScope(stack);
    return new Map(
      violations.map(({ ruleName, violatingResources }) => [
        ruleName.replace(/^.*-/, ""),
        violatingResources.length,
      ]),
    );
  }

  it("find in production what the page of compliance lists, and less with a key of one's own", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/evidence/compliance.md"), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w*) \| (\w*) \| (\w*) \| (\w*) \|/gm)];
    const listed = (column: number) => rows.flatMap((row) => (row[column] === "yes" ? [row[1]] : []));
    const encryption = { keyArn };
    const packs = [NIST80053R5Checks, PCIDSS321Checks, HIPAASecurityChecks];
    for (const [index, pack] of packs.entries())
      expect([...findingsOf(pack, productionSettings).keys()].sort(), pack.name).toEqual(
        listed(index + 2).sort(),
      );
    const withKey = new Set(
      packs.flatMap((pack) => [...findingsOf(pack, { ...productionSettings, encryption }).keys()]),
    );
    expect([...withKey].sort()).toEqual(listed(5).sort());
  });
});

it("the page of deploying lets CloudFormation's role manage each type that a stage has", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operate/deploying.md"), "utf8");
  const [, policy = ""] = /```json\n(\{ "Version": "2012-10-17"[^`]*)```/.exec(page) ?? [];
  const statements: readonly { readonly Action: readonly string[] }[] = JSON.parse(policy).Statement;
  const [withRecovery = ""] = /^With `recovery`, add .*$/m.exec(page) ?? [];
  const actions = [...statements.flatMap(({ Action }) => Action), ...withRecovery.matchAll(/(?<=`)[a-z]+:/g)];
  const allowed = new Set(actions.map((action) => String(action).split(":")[0]));
  const prefixes: Readonly<Record<string, string>> = { ApiGatewayV2: "apigateway" };
  const { resources } = synthesized({
    ...productionSettings,
    ...{ dashboard: true, webhooks: { customDomain }, canary: {}, encryption: { keyArn } },
    recovery: { vaultArn: "arn:aws:backup:eu-west-1:210987654321:backup-vault:v1" },
  });
  const types = resources.map(({ Type }) => Type).filter((type) => type.startsWith("AWS::"));
  for (const service of new Set(types.map((type) => type.split("::")[1] ?? "")))
    expect(allowed, service).toContain(prefixes[service] ?? service.toLowerCase());
});

describe("a function's wildcard", () => {
  const planted = (actions: readonly string[], resource: string) => () =>
    new PipelineFunction(new Stack(new App(), "Test"), "Planted", {
      codeOf: standIn,
      logRetentionInDays: logs.RetentionDays.ONE_DAY,
      logsInvocations: false,
      tracing: "off",
      dataKey: undefined,
      previousKeyArns: [],
      entry: "entry.ts",
      description: "planted",
      size: { memoryMb: 128, timeoutSeconds: 1 },
      environment: {},
      settings: {},
      permissions: [allow(actions, [resource])],
    });

  it.each([
    [["sqs:SendMessage"], "*"],
    [["s3:GetObject"], "arn:aws:s3:::bucket/data/*"],
    [["dynamodb:ListStreams", "dynamodb:DeleteTable"], "*"],
  ])("is refused if it is not listed with a reason: %s on %s", (actions, resource) => {
    expect(planted(actions, resource)).toThrow(
      "list the wildcard with its reason in lib/function/permissions.ts",
    );
  });

  it("is accepted if it is", () => {
    expect(planted(["dynamodb:ListStreams"], "*")).not.toThrow();
  });
});
