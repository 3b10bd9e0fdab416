import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { PurgeQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientsOf, fifoOrder } from "../../../proof/scenario/clients.ts";
import type { clockOfAlarms } from "../../support/clock-of-alarms.ts";
import type { CommandResult } from "../../support/command-line.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";
import { registerAtProvider } from "../../support/webhooks.ts";

/** Findings of doctor and their fixes. */
export function describeDoctor(
  use: () => OperatedStage,
  clock: ReturnType<typeof clockOfAlarms>,
  changes: object,
): void {
  describe("doctor", () => {
    let operated: OperatedStage;
    let system: System;
    let clients: ReturnType<typeof clientsOf>;
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "doctor-"));
      operated = use();
      ({ system } = operated);
      clients = clientsOf(system.access);
    });
    afterAll(async () => {
      clients[Symbol.dispose]();
      await rm(directory, { recursive: true });
    });

    const output = (name: string) => operated.output(name);
    type Found = {
      readonly code: string;
      readonly severity: string;
      readonly what: string;
      readonly why: string;
      readonly fix: string;
      readonly isAlarm?: boolean;
      readonly follows?: readonly Found[];
    };
    const examine = async (flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
      const { code, stdout, stderr } = await operated.run(["doctor", "--json", ...flags], { env });
      const { findings, checked }: { findings: readonly Found[]; checked: readonly string[] } =
        JSON.parse(stdout);
      expect({ code, isTold: stderr !== "" }).toEqual({
        code: findings.every(({ severity }) => severity === "info") ? 0 : 1,
        isTold: findings.some(({ severity }) => severity !== "info"),
      });
      return { findings, checked };
    };
    /** Ignores findings from earlier tests, such as an alarm that stays on for a while. */
    const isAlarm = (finding: Found) => finding.isAlarm === true;

    it("finds no problem on a healthy stage, and lists its checks", async () => {
      const { findings, checked } = await examine();
      expect(findings.filter((finding) => !isAlarm(finding))).toEqual([]);
      expect(checked).toEqual(expect.arrayContaining(["the webhook secret", "event sources", "alarms"]));
    });

    it("finds problems, and the commands that it names fix them", async () => {
      await system.stack.setSecret(output("WebhookSecretArn"), "{}");
      await system.stack.setSecret(output("TokenSecretArn"), "{}");
      await registerAtProvider(system, "users", { url: "https://other.example/users" });
      const QueueUrl = output("FetchDeadLetterQueueUrl");
      await clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "{}", ...fifoOrder(QueueUrl) }));
      // The third run raises the alarm.
      await clock.passRuns(system.stack, async () => void (await operated.run(["token", "refresh"])));
      const failures = { Bucket: output("FailuresBucketName"), Key: "aws/lambda/batch" };
      await clients.s3.send(new PutObjectCommand({ ...failures, Body: "{}" }));

      const { findings } = await examine();
      const fixes = new Map(findings.map(({ code, fix }) => [code, fix]));
      expect(findings.filter((finding) => !isAlarm(finding))).toMatchObject([
        {
          code: "token-missing",
          what: "No token of the provider is set.",
          fix: "npx income-events sandbox token --stage status | npx income-events token set --stage status",
          // Its own alarm is listed under it, not as a separate finding.
          follows: expect.arrayContaining([
            expect.objectContaining({ code: "token-missing", isAlarm: true }),
          ]),
        },
        { code: "webhook-secret-empty", fix: "npx income-events secret rotate --stage status" },
        {
          code: "webhooks-elsewhere",
          what: `The webhooks of users go to https://other.example/users, and not to ${output("WebhooksUrl")}/users.`,
          fix: "npx income-events webhooks register --take-over --stage status",
        },
        {
          code: "fetching-dead-letters",
          what: expect.stringMatching(/^fetch has 1 dead letter, the oldest for \d+\w+\.$/),
          fix: "npx income-events dlq show fetch --stage status",
        },
        { code: "undelivered-changes", fix: "npx income-events repair --failures --stage status" },
      ]);

      const type = async (line: string) => {
        let result: CommandResult | undefined;
        for (const command of line.split(" | ")) {
          const [, words = ""] = /^npx income-events (.*) --stage status$/.exec(command) ?? [];
          const yes = /take-over|rotate/.test(words) ? ["--yes"] : [];
          result = await operated.run([...words.split(" "), ...yes], { input: result?.stdout ?? "" });
        }
        return result;
      };
      expect(await type(fixes.get("token-missing") ?? "")).toMatchObject({ code: 0 });
      // Also registers, and leaves another stage's webhooks to that stage.
      await type(fixes.get("webhook-secret-empty") ?? "");
      expect(await type(fixes.get("webhooks-elsewhere") ?? "")).toMatchObject({ code: 0 });
      await clients.sqs.send(new PurgeQueueCommand({ QueueUrl }));
      await clients.s3.send(new DeleteObjectCommand(failures));
      const after = (await examine()).findings;
      expect(after.filter(({ severity }) => severity !== "info")).toEqual([]);
      expect(after).toContainEqual(
        expect.objectContaining({
          code: "token-missing",
          what: expect.stringMatching(
            /^The alarm "token missing" is still on after the problem ended: it clears in /,
          ),
        }),
      );
      expect(system.sandbox.webhook("users")?.url).toBe(`${output("WebhooksUrl")}/users`);
    });

    it("finds settings that were changed and not deployed, and no others", async () => {
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
          what: expect.stringMatching(
            /other settings than .* Different: startEndpoints \(deployed \[.*\], in the file \["profile"\]\)\.$/,
          ),
          // Local systems are not deployed.
          fix: expect.stringMatching(/^npm start/),
        },
      ]);
    });

    it("finds deleted resources that the outputs name, and missing outputs", async () => {
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
      ]);
    });
  });
}
