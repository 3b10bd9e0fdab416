import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SNSClient } from "@aws-sdk/client-sns";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examineRecipients } from "../../../../packages/cli/doctor/settings-check.ts";
import { productionSettings } from "../../../lib/synthesized.ts";
import { startWireAws, type WireAws } from "../../../support/wire-aws.ts";
import { ownTopic, subscriptions } from "../preflight/planted-faults.ts";
import { xml } from "../preflight/wire-answers.ts";

const directory = mkdtempSync(join(tmpdir(), "recipients-"));
const file = join(directory, "settings.json");
const cleanup = new AsyncDisposableStack();
let aws: WireAws;
let sns: SNSClient;

beforeAll(async () => {
  aws = cleanup.use(await startWireAws());
  const credentials = { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" };
  sns = cleanup.adopt(new SNSClient({ endpoint: aws.url, region: "eu-central-1", credentials }), (client) =>
    client.destroy(),
  );
});
afterAll(async () => {
  await cleanup.disposeAsync();
  rmSync(directory, { recursive: true });
});

const examine = (settings: object = {}) => {
  writeFileSync(file, JSON.stringify({ ...productionSettings, ...settings }));
  const deployment = { stage: "prod", output: () => ownTopic };
  return examineRecipients({ deployment, clients: { sns } }, file);
};

it("an address that has confirmed is well, and so is a topic of one's own", async () => {
  subscriptions(aws, `${ownTopic}:1`);
  expect(await examine()).toEqual([]);
  expect(await examine({ alarms: { topicArn: ownTopic } })).toEqual([]);
});

it("an address that has not confirmed is a finding that says by when it must", async () => {
  subscriptions(aws, "PendingConfirmation");
  expect(await examine()).toMatchObject([
    {
      code: "alarms-unconfirmed",
      severity: "warning",
      what: "on-call@example.com has not confirmed to be notified of alarms.",
      fix: "follow the link in the mail of AWS Notifications, within 48 hours of the deployment",
    },
  ]);
});

it("an address that SNS has forgotten after 48 hours is a finding with the command that asks again", async () => {
  aws.answers.set("ListSubscriptionsByTopic", xml("ListSubscriptionsByTopic", "<Subscriptions/>"));
  expect(await examine()).toMatchObject([
    {
      what: expect.stringContaining("which was not confirmed within 48 hours"),
      fix: `aws sns subscribe --topic-arn ${ownTopic} --protocol email --notification-endpoint on-call@example.com`,
    },
  ]);
});
