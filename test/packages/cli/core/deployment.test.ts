import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findDeployment } from "../../../../packages/cli/core/deployment.ts";
import { shellWords } from "../../../support/command-line.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Token-abc";
const credentials = { accessKeyId: "AKIALOCAL", secretAccessKey: "s" };
/** No process has this id: Linux's maximum is 2^22. */
const deadPid = 2 ** 30;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "running-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

function running(stack: string, pid = process.pid, port = 4566): void {
  const endpoint = `http://127.0.0.1:${port}`;
  const system = { pid, stack, region: "eu-central-1", endpoint, credentials, directory: `/home/${port}` };
  writeFileSync(
    join(directory, `${stack}-${port}.json`),
    JSON.stringify({ ...system, outputs: { TableName: stack } }),
  );
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}

function outputsFile(content: unknown): string {
  const file = join(directory, "outputs.file");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

describe("the deployment on this machine", () => {
  it("is the one that runs, with its address and its credentials", () => {
    running("income-events-local");
    const { stage, client, output } = findDeployment({}, directory);
    expect(stage).toBe("local");
    expect(client).toEqual({ region: "eu-central-1", endpoint: "http://127.0.0.1:4566", credentials });
    expect(output("TableName")).toBe("income-events-local");
  });

  it("is not one that was killed and left its file", () => {
    running("income-events-old", deadPid);
    expect(() => findDeployment({}, directory)).toThrow("No system runs on this machine");
    running("income-events-local");
    expect(findDeployment({}, directory).stage).toBe("local");
  });

  it("is chosen by its stage if there are several", () => {
    running("income-events-local");
    running("income-events-other", process.pid, 5566);
    expect(findDeployment({ stage: "other" }, directory).stage).toBe("other");
    expect(() => findDeployment({ stage: "prod" }, directory)).toThrow(
      /^No pipeline on this machine matches --stage prod. Choose one with:\n {2}--local 4566 {4}stage local, process/,
    );
  });

  it("is chosen by a port or its folder if several have the same stage, as the message says", () => {
    running("income-events-local");
    running("income-events-local", process.pid, 5566);
    const message = messageOf(() => findDeployment({}, directory));
    expect(message).toMatch(/^Several pipelines are on this machine. Choose one with:\n {2}--local/);
    for (const port of [4566, 5566]) {
      const endpoint = `http://127.0.0.1:${port}`;
      expect(message).toContain(`--local ${port}    stage local`);
      expect(findDeployment({ local: String(port) }, directory).client.endpoint).toBe(endpoint);
      expect(findDeployment({ local: `/home/${port}` }, directory).client.endpoint).toBe(endpoint);
    }
    expect(() => findDeployment({ local: "1" }, directory)).toThrow("matches --local 1.");
    expect(() => findDeployment({ local: "/home" }, directory)).toThrow("matches --local /home.");
  });

  it("may be missing, even if nothing ever ran: reported with the remedy and its own exit code", () => {
    for (const where of [directory, join(directory, "none")]) {
      expect(() => findDeployment({}, where)).toThrow(/--outputs outputs\.json.*npm start$/s);
      expect(() => findDeployment({}, where)).toThrow(expect.objectContaining({ exitCode: 3 }));
    }
  });
});

const withToken = (outputs: object) => ({ "income-events-prod": { TokenSecretArn: arn, ...outputs } });

describe("a deployment in AWS", () => {
  const stacks = { "income-events-prod": { TokenSecretArn: arn }, "their-own-stack": { Bucket: "b" } };

  it("is no system on this machine: one of both is named", () => {
    const options = { local: "4566", outputs: outputsFile(stacks) };
    expect(() => findDeployment(options, directory)).toThrow("--outputs and --local exclude each other");
  });

  it("is read from the file of its outputs, whatever runs here; its region from its ARNs", () => {
    running("income-events-local");
    const { stage, client, output } = findDeployment({ outputs: outputsFile(stacks) }, directory);
    expect(stage).toBe("prod");
    expect(client).toEqual({ region: "eu-west-1" });
    expect(output("TokenSecretArn")).toBe(arn);
  });

  it("is one of several pipelines of an app's own stack, and has its own outputs and resources alone", () => {
    const own = (id: string, stage: string) => ({
      [`${id}Stage`]: stage,
      [`${id}SettingsDigest`]: "abc",
      [`${id}TokenSecretArn`]: arn,
      [`${id}UsersQueueUrl`]: `https://sqs.eu-west-1.amazonaws.com/123456789012/${id}`,
    });
    const lending = { ...own("Payroll", "prod"), ...own("PayrollTest", "test"), Site: "https://example.com" };
    const outputs = outputsFile({ Lending: lending, Other: { Bucket: "b" } });
    for (const pipeline of ["PayrollTest", "Lending-PayrollTest"]) {
      const found = findDeployment({ outputs, pipeline }, directory);
      const { stage, stack, resourcePrefix, resources, output } = found;
      expect([stage, stack, resourcePrefix]).toEqual(["test", "Lending", "Lending-PayrollTest"]);
      expect(output("UsersQueueUrl")).toMatch(/\/PayrollTest$/);
      expect(resources.test("PayrollTestUsersStore")).toBe(true);
    }
    const { resources, output } = findDeployment({ outputs, stage: "prod" }, directory);
    const ids = ["PayrollUsersStore", "PayrollTestUsersStore", "Other"];
    expect(ids.map((each) => resources.test(each))).toEqual([true, false, false]);
    expect(output("UsersQueueUrl")).toMatch(/Payroll$/);
    expect(() => output("TestUsersQueueUrl")).toThrow(
      "The stack Lending has no output PayrollTestUsersQueueUrl",
    );
    expect(() => findDeployment({ outputs }, directory)).toThrow(
      /^Several .*:\n {2}--stage prod --pipeline Lending-Payroll\n {2}--stage test --pipeline /,
    );
  });

  it("is named by --pipeline if a stage has several: the message lists them", () => {
    const own = (id: string) => ({ [`${id}SettingsDigest`]: "abc", [`${id}TokenSecretArn`]: arn });
    const named = { PayrollStage: "prod", BenefitsStage: "prod" };
    const outputs = outputsFile({ Lending: { ...own("Payroll"), ...own("Benefits"), ...named } });
    expect(() => findDeployment({ outputs, stage: "prod" }, directory)).toThrow(
      /^Several .*:\n {2}--stage prod --pipeline Lending-Benefits\n {2}--stage prod --pipeline Lending-Payroll$/,
    );
    expect(() => findDeployment({ outputs, pipeline: "Lost" }, directory)).toThrow(
      /^No pipeline in .* matches --pipeline Lost\. Choose one with:\n.*Lending-Benefits\n.*Lending-Payroll$/,
    );
  });

  it("has another stage than the one named: nothing is chosen in its place", () => {
    const options = { stage: "dev", outputs: outputsFile(stacks) };
    expect(() => findDeployment(options, directory)).toThrow(
      /^No pipeline in .* matches --stage dev\. Choose one with:\n {2}--stage prod$/,
    );
  });

  it("lacks an output: it is named, with its reasons", () => {
    const { output } = findDeployment({ outputs: outputsFile(stacks) }, directory);
    expect(() => output("RegisterFunctionName")).toThrow(
      "The stack income-events-prod has no output RegisterFunctionName: its settings leave that part out",
    );
  });

  it.each<[string, unknown, string]>([
    ["no JSON", "{", "is not JSON"],
    ["no object", [], "expected an object"],
    ["no stack of ours", { "their-own-stack": {} }, "it has no stack with a pipeline"],
    ["outputs that are no texts", { "income-events-prod": { TokenSecretArn: 1 } }, "expected a text"],
    ["no ARN", { "income-events-prod": {} }, "has no TokenSecretArn"],
    [
      "a region that is none",
      withToken({ TokenSecretArn: arn.replace("eu-west-1", "x.evil.example/") }),
      "TokenSecretArn",
    ],
    ...[
      "https://sqs.eu-west-1.evil.example/123456789012/q",
      "https://sqs.eu-central-1.amazonaws.com/123456789012/q",
      "http://sqs.eu-west-1.amazonaws.com/123456789012/q",
      "https://sqs.eu-west-1.amazonaws.com:8443/123456789012/q",
      "https://sqs.eu-west-1.amazonaws.com@evil.example/123456789012/q",
      "//evil.example/q",
      "1",
      "https://sqs.eu-west-1.amazonaws.com\n.evil.example/q",
    ].map((url): [string, unknown, string] => [
      url,
      withToken({ UsersQueueUrl: url }),
      "UsersQueueUrl leads out",
    ]),
    ...[
      "https://abc123.lambda-url.eu-central-1.on.aws/",
      "https://abc123.lambda-url.eu-west-1.on.aws.evil.example/",
      "https://sqs.eu-west-1.amazonaws.com/",
      "http://127.0.0.1:4566/",
      "1",
    ].map((url): [string, unknown, string] => [
      `documents at ${url}`,
      withToken({ DocumentsUrl: url }),
      "DocumentsUrl leads out",
    ]),
    [
      "an escaped address",
      withToken({ Subscribers: '[{"queueUrl":"https:\\/\\/evil.example\\/q"}]' }),
      "Subscribers leads out",
    ],
    [
      "another account's access point",
      withToken({ OverflowBucketName: "arn:aws:s3:eu-west-1:210987654321:accesspoint/x" }),
      "OverflowBucketName leads out",
    ],
  ])("can't be read from %s", (_, content, reason) => {
    const options = { outputs: outputsFile(content) };
    expect(() => findDeployment(options, directory)).toThrow(reason);
    expect(() => findDeployment(options, directory)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it("may have any address if an endpoint is set explicitly", () => {
    const options = { outputs: outputsFile(withToken({ UsersQueueUrl: "http://localhost:4566/1/q" })) };
    vi.stubEnv("AWS_ENDPOINT_URL", "http://localhost:4566");
    expect(findDeployment(options, directory).stage).toBe("prod");
    vi.stubEnv("AWS_ENDPOINT_URL", "");
    expect(() => findDeployment(options, directory)).toThrow("UsersQueueUrl leads out");
  });

  it("has its own queues, topics of others for alarms, and a name of its own for webhooks", () => {
    const outputs = withToken({
      UsersQueueUrl: "https://sqs.eu-west-1.amazonaws.com/123456789012/q.fifo",
      AlarmTopicArn: "arn:aws:sns:eu-west-1:210987654321:alarms",
      WebhooksUrl: "https://hooks.example.com/webhooks",
    });
    expect(findDeployment({ outputs: outputsFile(outputs) }, directory).stage).toBe("prod");
  });

  it("can't be read from a file that is not there", () => {
    expect(() => findDeployment({ outputs: join(directory, "none") }, directory)).toThrow(
      /can't be used: ENOENT.* Write it with: npx cdk deploy --outputs-file/,
    );
    const outputs = join(directory, "none;touch FILE");
    const message = messageOf(() => findDeployment({ outputs }, directory));
    const words = ["cdk", "deploy", "--outputs-file", outputs];
    expect(shellWords(message.slice(message.indexOf("npx ")))).toEqual(words);
  });
});
