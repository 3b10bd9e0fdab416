import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { PurgeQueueCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";

/** A rotation of the secret takes twice the time that receivers keep it. */
const changes = { register: { readsFirst: true }, webhooks: { secretCacheSeconds: 1 } };

describe("doctor", () => {
  let operated: OperatedStage;
  let system: System;
  let sqs: SQSClient;
  let s3: S3Client;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "doctor-"));
    operated = await startOperatedStage("status", changes);
    ({ system } = operated);
    sqs = new SQSClient(system.access);
    s3 = new S3Client({ ...system.access, forcePathStyle: true });
  });
  afterAll(async () => {
    sqs.destroy();
    s3.destroy();
    await operated?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  const output = (name: string) => outputOf(system.stack, name);
  type Found = { readonly what: string; readonly why: string; readonly fix: string };
  const examine = async (flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await operated.run(["doctor", "--json", ...flags], { env });
    const { findings, checked }: { findings: readonly Found[]; checked: readonly string[] } =
      JSON.parse(stdout);
    expect({ code, isTold: stderr !== "" }).toEqual({
      code: findings.length === 0 ? 0 : 1,
      isTold: findings.length > 0,
    });
    return { findings, checked };
  };
  /** What was wrong before this group, such as an alarm that stays on for a while, is no matter here. */
  const isAlarm = ({ what }: Found) => what.startsWith("The alarm ");

  it("finds nothing wrong with a stage that is well, and says what it has looked at", async () => {
    const { findings, checked } = await examine();
    expect(findings.filter((finding) => !isAlarm(finding))).toEqual([]);
    expect(checked).toEqual([
      "the webhook secret",
      "the webhooks at the provider",
      "dead letters",
      "event sources",
      "functions",
      "what the relay gave up on",
      "the provider's token",
      "subscribers' readers",
      "alarms",
      "this machine's clock",
    ]);
  });

  it("finds what is wrong, and the command that it names fixes it", async () => {
    await system.stack.setSecret(output("WebhookSecretArn"), "{}");
    await system.stack.setSecret(output("TokenSecretArn"), "{}");
    const body = JSON.stringify({ url: "https://other.example/users", method: "POST", headers: {} });
    const headers = { authorization: `Bearer ${system.sandbox.token}`, "content-type": "application/json" };
    await fetch(`${system.sandbox.baseUrl}/api/v0.3/webhooks/users`, { method: "PUT", headers, body });
    const QueueUrl = output("FetchDeadLetterQueueUrl");
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}" }));
    await operated.run(["token", "refresh"]);
    const failures = { Bucket: output("FailuresBucketName"), Key: "aws/lambda/batch" };
    await s3.send(new PutObjectCommand({ ...failures, Body: "{}" }));

    const { findings } = await examine();
    const fixes = new Map(findings.map(({ what, fix }) => [what, fix]));
    expect([...fixes].filter(([what]) => !what.startsWith("The alarm "))).toEqual([
      ["The webhook secret is empty.", "npx income-events secret rotate --stage status"],
      [
        `The webhooks of users go to https://other.example/users, and not to ${output("WebhooksUrl")}/users.`,
        "npx income-events webhooks register --take-over --stage status",
      ],
      [
        expect.stringMatching(/^fetch has 1 dead letter, the oldest for \d+\w+\.$/),
        "npx income-events dlq show fetch --stage status",
      ],
      [
        expect.stringContaining("they wait in the failures bucket"),
        "npx income-events repair --failures --stage status",
      ],
      ["No token of the provider is set.", "npx income-events token set --stage status < token.txt"],
    ]);
    expect(findings.filter(isAlarm)).toContainEqual({
      what: expect.stringMatching(/TokenMissing\w+ is on, since /),
      why: expect.stringContaining("No token of the provider is set"),
      fix: "npx income-events token set --stage status < token.txt",
    });

    const type = (line: string, input = "") => {
      const [, words = ""] = /^npx income-events (.*?) --stage status/.exec(line) ?? [];
      return operated.run([...words.split(" "), "--yes"], { input });
    };
    expect(
      await type(fixes.get("No token of the provider is set.") ?? "", system.sandbox.token),
    ).toMatchObject({
      code: 0,
    });
    // Registers too, and leaves another stage's webhooks to it.
    await type(fixes.get("The webhook secret is empty.") ?? "");
    const misdirected = [...fixes.keys()].find((what) => what.startsWith("The webhooks of users")) ?? "";
    expect(await type(fixes.get(misdirected) ?? "")).toMatchObject({ code: 0 });
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    await s3.send(new DeleteObjectCommand(failures));
    expect((await examine()).findings.filter((finding) => !isAlarm(finding))).toEqual([]);
    expect(system.sandbox.webhook("users")?.url).toBe(`${output("WebhooksUrl")}/users`);
  });

  it("finds settings that were changed and not deployed, and none that are as deployed", async () => {
    const file = join(directory, "settings.json");
    const local: object = JSON.parse(await readFile("stages/local.json", "utf8"));
    const settingsFound = async (more: object) => {
      await writeFile(file, JSON.stringify({ ...local, ...changes, ...more }));
      const { findings, checked } = await examine(["--settings", file]);
      expect(checked).toContain("settings");
      return findings.filter(({ what }) => what.includes("settings"));
    };
    expect(await settingsFound({})).toEqual([]);
    expect(await settingsFound({ startEndpoints: ["profile"] })).toMatchObject([
      {
        what: expect.stringContaining("other settings than"),
        fix: expect.stringMatching(/^npx cdk deploy -c stage=status/),
      },
    ]);
  });

  it("finds what the outputs name and is not there any more, and outputs that are missing", async () => {
    const file = join(directory, "outputs.json");
    const { RefreshFunctionName: _, RelayFunctionName, ...others } = system.stack.outputs;
    const outputs = { ...others, RelayFunctionName: `${RelayFunctionName}-gone`, UsersQueueArn: undefined };
    await writeFile(file, JSON.stringify({ [system.stack.name]: outputs }));
    const { findings } = await examine(["--outputs", file], operated.asAws);
    const fixed = findings.filter(
      ({ fix }) => fix === "npx cdk deploy -c stage=status --outputs-file outputs.json",
    );
    expect(fixed.map(({ what }) => what)).toEqual([
      "The stack income-events-status has no output UsersQueueArn: its settings leave that part out, or an older version is deployed.",
      expect.stringMatching(/^Function not found: .*-gone$/),
      // The settings of this stage name nobody.
      expect.stringMatching(/^(\d+) of \1 alarms notify nobody\.$/),
    ]);
  });
});
