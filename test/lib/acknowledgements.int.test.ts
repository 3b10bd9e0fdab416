import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack, Validations } from "aws-cdk-lib";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import * as s3 from "aws-cdk-lib/aws-s3";
import { AwsSolutionsChecks } from "cdk-nag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acknowledge, acknowledgements } from "../../lib/acknowledgements.ts";
import { allow } from "../../lib/function/permissions.ts";
import { PipelineFunction } from "../../lib/function/pipeline-function.ts";
import { IncomeEventsStack } from "../../lib/income-events-stack.ts";
import { productionSettings } from "./synthesized.ts";

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

  /** An app as `cdk synth` checks it, without CDK's own validation, which takes seconds. */
  function checked(fill: (app: App) => void) {
    const app = new App({
      outdir: mkdtempSync(join(directory, "assembly-")),
      builtinCloudFormationValidation: false,
    });
    fill(app);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    return app.synth();
  }

  it.each(["off", "service"])(
    "find nothing in production that is not acknowledged; tracing: %s",
    (tracing) => {
      const written = { ...productionSettings, tracing };
      const synthesize = () => checked((app) => stackOf(app, written));
      expect(synthesize).not.toThrow();
    },
  );

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

  it("is needed: none stands for a finding that is not there", () => {
    const app = new App({ builtinCloudFormationValidation: false });
    const built = stackOf(app, productionSettings);
    const types = new Set(built.node.findAll().map((construct) => construct.constructor.name));
    for (const { finding } of acknowledgements) {
      const type = { APIG4: "CfnRoute", S1: "CfnBucket", SMG4: "CfnSecret" }[finding.split("-").at(-1) ?? ""];
      expect(types, finding).toContain(type);
    }
  });
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
  ])("is refused where it is not listed with a reason: %s on %s", (actions, resource) => {
    expect(planted(actions, resource)).toThrow(
      "list the wildcard with its reason in lib/function/permissions.ts",
    );
  });

  it("is accepted where it is", () => {
    expect(planted(["dynamodb:ListStreams"], "*")).not.toThrow();
  });
});
