import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SNSClient } from "@aws-sdk/client-sns";
import { expect, it } from "vitest";
import { examineRecipients } from "../../../../packages/cli/doctor/settings-check.ts";
import { productionSettings } from "../../../lib/synthesized.ts";
import { startWireAws } from "../../../support/wire-aws.ts";
import { ownTopic } from "../preflight/planted-faults.ts";
import { xml } from "../preflight/wire-answers.ts";

it("an address that SNS has forgotten after 48 hours is a finding with the command that asks again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "recipients-"));
  using cleanup = new DisposableStack();
  cleanup.defer(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "settings.json");
  await using aws = await startWireAws();
  aws.answers.set("ListSubscriptionsByTopic", xml("ListSubscriptionsByTopic", "<Subscriptions/>"));
  const credentials = { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" };
  const sns = new SNSClient({ endpoint: aws.url, region: "eu-central-1", credentials });
  cleanup.defer(() => sns.destroy());
  const examine = (settings: object = {}) => {
    writeFileSync(file, JSON.stringify({ ...productionSettings, ...settings }));
    const deployment = { stage: "prod", output: () => ownTopic };
    return examineRecipients({ deployment, clients: { sns } }, file);
  };

  expect(await examine({ alarms: { topicArn: ownTopic } })).toEqual([]);
  expect(await examine()).toMatchObject([
    {
      code: "alarms-unconfirmed",
      severity: "warning",
      what: expect.stringContaining("which was not confirmed within 48 hours"),
      fix: `aws sns subscribe --topic-arn ${ownTopic} --protocol email --notification-endpoint on-call@example.com`,
    },
  ]);
});
