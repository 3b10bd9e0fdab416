import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { packSettings, parseSettings } from "../../../../lib/settings/settings.ts";
import { createClients } from "../../../../packages/cli/core/clients.ts";
import { type Account, openAccount } from "../../../../packages/cli/preflight/account.ts";
import { examinePreflight } from "../../../../packages/cli/preflight/examine.ts";
import { productionSettings } from "../../../lib/synthesized.ts";
import { runInProcess } from "../../../support/in-process.ts";
import { startWireAws, type WireAws } from "../../../support/wire-aws.ts";
import {
  answerStacks,
  exported,
  formerKeyArn,
  keyArn,
  ownTopic,
  planted,
  standing,
  standsWithKey,
  subscriptions,
} from "./planted-faults.ts";
import {
  allowing,
  complete,
  delivery,
  json,
  limits,
  logPolicies,
  noStack,
  quotas,
  stackXml,
  xml,
} from "./wire-answers.ts";

type Environment = Readonly<Record<string, string>>;

const result = z.object({
  findings: z.array(z.object({ what: z.string(), why: z.string(), fix: z.string() })),
  checked: z.array(z.string()),
  unseen: z.array(z.object({ name: z.string(), reason: z.string() })),
});

let aws: WireAws;
const directory = mkdtempSync(join(tmpdir(), "preflight-"));
beforeAll(async () => {
  aws = await startWireAws();
});
afterAll(async () => {
  await aws[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** An account that is ready for a first deployment. */
beforeEach(() => {
  aws.calls.length = 0;
  aws.answers.clear();
  answerStacks(aws, noStack);
  const identity =
    "<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:user/o</Arn><UserId>U</UserId>";
  aws.answers
    .set("GetCallerIdentity", xml("GetCallerIdentity", identity))
    .set("ListExports", xml("ListExports", "<Exports/>"))
    .set("/2016-08-19/account-settings", limits(1_000))
    .set("ListServiceQuotas", quotas(10_000, 5_000))
    .set("DescribeResourcePolicies", logPolicies())
    .set(
      "DescribeKey",
      json({ KeyMetadata: { KeyId: "k", KeyState: "Enabled", KeySpec: "SYMMETRIC_DEFAULT" } }),
    )
    .set("GetKeyPolicy", allowing("logs.eu-central-1.amazonaws.com", "cloudwatch.amazonaws.com"));
});

async function run(settings: object = {}, flags: readonly string[] = [], env: Environment = {}) {
  const file = join(directory, "settings.json");
  writeFileSync(file, JSON.stringify({ ...productionSettings, ...settings }));
  const args = ["preflight", "--stage", "prod", "--settings", file, ...flags];
  return runInProcess(args, { env: { ...aws.env, ...env } });
}

/** What preflight reports, and its exit code. */
async function reported(settings: object = {}, env: Environment = {}) {
  const { code, json: parsed } = await run(settings, ["--json"], env);
  return { code, ...result.parse(parsed()) };
}

/** What preflight finds in an account that differs from the planted one. */
async function findingsIn(
  changesOf: (account: Account) => Partial<Account>,
  more: object = {},
): Promise<readonly string[]> {
  for (const [name, value] of Object.entries(aws.env)) vi.stubEnv(name, value);
  using clients = createClients({ client: {} });
  const account = await openAccount(clients);
  const settings = parseSettings({ ...productionSettings, ...more }, "the test");
  const plan = { stage: "prod", stackName: "income-events-prod", settings };
  const there = { ...account, ...changesOf(account) };
  const { findings } = await examinePreflight({ ...plan, account: there });
  vi.unstubAllEnvs();
  return findings.map(({ what }) => what);
}

async function findings(settings?: object) {
  const { code, findings: found } = await reported(settings);
  expect(code).toBe(found.length === 0 ? 0 : 1);
  for (const { why, fix } of found) expect([why, fix]).not.toContain("");
  return found.map(({ what, fix }) => `${what} ${fix}`);
}

describe("an account that is ready for a deployment", () => {
  it("has no finding, exits 0, and reports what cannot be checked", async () => {
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(stdout).toContain("All checks of the deployment of prod in 123456789012, eu-central-1 passed.");
    expect(stdout).toContain(
      "Not seen: whether the region has HTTP APIs, functions of nodejs24.x on arm64, and streamed answers",
    );
    expect(stdout).toContain("the principals and certificates of the settings exist");
  });

  it("has none if the deployed stage already reserves the account's remaining concurrency", async () => {
    const settings = { accountConcurrency: 1_000, functions: { receive: { reservedConcurrency: 20 } } };
    const SettingsPacked =
      packSettings(parseSettings({ ...productionSettings, ...settings }, "deployed")) ?? "";
    answerStacks(aws, stackXml("income-events-prod", complete, { SettingsPacked }));
    aws.answers.set("/2016-08-19/account-settings", limits(1_000, 120));
    expect(await findings(settings)).toEqual([]);
    expect(await findings({ ...settings, functions: { receive: { reservedConcurrency: 26 } } })).toEqual([
      expect.stringMatching(/reserves 104 .* and 200 are left for it/),
    ]);
  });

  it("has none with a key and a stack that stands either", async () => {
    answerStacks(aws, stackXml("income-events-prod", complete));
    expect(await findings({ encryption: { keyArn } })).toEqual([]);
  });

  it("has none if the deployed key stays, or is named as a former one, and reports if that cannot be checked", async () => {
    standsWithKey(aws, formerKeyArn);
    expect(await findings({ encryption: { keyArn: formerKeyArn } })).toEqual([]);
    expect(await findings({ encryption: { keyArn, previousKeyArns: [formerKeyArn] } })).toEqual([]);
    expect(await findings({ encryption: { previousKeyArns: [formerKeyArn] } })).toEqual([]);
    answerStacks(aws, stackXml("income-events-prod", complete));
    expect((await run({ encryption: { keyArn } })).stdout).toContain("Not seen: a change of the key");
  });
});

describe("what would fail a deployment, or lose something after it, is found", () => {
  it.each([
    ["ca-west-1", "Lambda has no function URLs in ca-west-1, and subscribers would read documents at one."],
    [
      "us-gov-west-1",
      "us-gov-west-1 is in AWS GovCloud (US), where Lambda has no function URLs and no JSON logs.",
    ],
  ])("a region without what the pipeline needs of Lambda: %s", async (region, expected) => {
    const { code, findings: found } = await reported({}, { AWS_REGION: region });
    expect(code).toBe(1);
    expect(found.map(({ what }) => what)).toContain(expected);
  });

  it.each(planted)("%s", async (_, plant, expected, settings) => {
    plant(aws);
    const found = await findings(settings);
    expect(found.filter((each) => expected.test(each))).toHaveLength(1);
  });

  it("and is numbered for people, with what fixes it", async () => {
    aws.answers.set("/2016-08-19/account-settings", limits(10));
    const { code, stdout, stderr } = await run();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^1\. The account has 10 .*\n {3}.*\n {3}Fix it: aws service-quotas/m);
    expect(stderr).toContain("One thing to fix before a deployment.");
  });
});

describe("what is no finding", () => {
  it("is a policy that admits all vended logs, however full it is", async () => {
    const document = `"arn:aws:logs:eu-central-1:123456789012:log-group:/aws/vendedlogs/*"${"x".repeat(5_000)}`;
    aws.answers.set("DescribeResourcePolicies", logPolicies(delivery(document)));
    expect(await findings()).toEqual([]);
  });

  it("is the stage's own registration, and an address that was confirmed", async () => {
    standing(aws);
    subscriptions(aws, `${ownTopic}:0f8fad5b`);
    aws.answers.set("ListExports", xml("ListExports", exported("income-events-prod")));
    expect(await findings()).toEqual([]);
  });
});

it("checks without permission are named, and the others run", async () => {
  aws.answers.delete("ListServiceQuotas");
  const { code, checked, unseen } = await reported();
  expect(code).toBe(0);
  expect(checked).toContain("concurrent executions");
  expect(unseen).toContainEqual({
    name: "API Gateway's throttle",
    reason: "the credentials do not allow ListServiceQuotas",
  });
});

it.each([
  [
    "the SDK can't read",
    { body: "<html>no such service</html>" },
    "what answered is not AWS's answer to this call",
  ],
  ["has no name", { status: 501, body: "" }, "what answered is not AWS's answer to this call"],
  [
    "AWS names",
    { status: 400, body: '{"__type":"InvalidParameterValueException","message":"of AWS"}' },
    "AWS answered InvalidParameterValueException",
  ],
  ["lacks the quota", json({ Quotas: [] }), 'Service Quotas names no "Throttle rate"'],
])("a failed check shows no text of the SDK, even for an answer that %s", async (_, answer, reason) => {
  aws.answers.set("ListServiceQuotas", answer);
  const { unseen } = await reported();
  expect(unseen).toContainEqual({ name: "API Gateway's throttle", reason });
});

it("the committed stage dev can be deployed for the first time to a new account", async () => {
  aws.answers.set("/2016-08-19/account-settings", limits(10));
  const { code, json: parsed } = await runInProcess(["preflight", "--stage", "dev", "--json"], {
    env: aws.env,
  });
  expect([code, result.parse(parsed()).findings]).toEqual([0, []]);
});

it("a region that has no address of a service is a finding", async () => {
  const serviceQuotas = new ServiceQuotasClient({
    requestHandler: {
      handle: async () => {
        throw Object.assign(new Error("getaddrinfo ENOTFOUND servicequotas"), { code: "ENOTFOUND" });
      },
    },
    region: "eu-central-1",
    credentials: { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" },
  });
  expect(await findingsIn(({ clients }) => ({ clients: { ...clients, serviceQuotas } }))).toEqual([
    "eu-central-1 lacks a service that this check needs: API Gateway's throttle.",
  ]);
});

it.each([
  [["d1a2b3.cloudfront.net"], 0],
  [["d-1a2b3c.execute-api.eu-central-1.amazonaws.com"], 1],
])("a name behind CloudFront that leads to %s makes %i findings", async (aliases, count) => {
  const certificateArn = "arn:aws:acm:eu-central-1:123456789012:certificate/4f6e";
  const customDomain = { name: "hooks.example.com", certificateArn, behindCloudFront: true };
  const found = await findingsIn(() => ({ resolveCname: async () => aliases }), {
    webhooks: { customDomain },
  });
  expect(found.filter((what) => what.includes("instead of CloudFront"))).toHaveLength(count);
});

it("credentials that AWS does not take end it with exit code 3", async () => {
  aws.answers.set("GetCallerIdentity", {
    status: 403,
    body: "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>The security token included in the request is invalid.</Message></Error></ErrorResponse>",
  });
  expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining("does not accept") });
});
