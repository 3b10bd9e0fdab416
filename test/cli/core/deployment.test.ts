import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findDeployment } from "../../../cli/core/deployment.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Token-abc";
const credentials = { accessKeyId: "AKIALOCAL", secretAccessKey: "s" };
/** No process has this id: Linux ends them at 2^22. */
const deadPid = 2 ** 30;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "running-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function running(stack: string, pid = process.pid): void {
  const system = { pid, stack, region: "eu-central-1", endpoint: "http://127.0.0.1:4566", credentials };
  writeFileSync(
    join(directory, `${stack}.json`),
    JSON.stringify({ ...system, outputs: { TableName: stack } }),
  );
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

  it("is chosen by its stage where there are several", () => {
    running("income-events-local");
    running("income-events-other");
    expect(findDeployment({ stage: "other" }, directory).stage).toBe("other");
    expect(() => findDeployment({}, directory)).toThrow(
      "There are several stages on this machine: local, other. Choose one with --stage.",
    );
    expect(() => findDeployment({ stage: "prod" }, directory)).toThrow(
      "There is no stage prod on this machine; there is: local, other.",
    );
  });

  it("may be none, also where nothing ever ran: that is reported with the remedy and its own exit code", () => {
    for (const where of [directory, join(directory, "none")]) {
      expect(() => findDeployment({}, where)).toThrow(/npm start.*--outputs outputs\.json/s);
      expect(() => findDeployment({}, where)).toThrow(expect.objectContaining({ exitCode: 3 }));
    }
  });
});

describe("a deployment in AWS", () => {
  const stacks = { "income-events-prod": { TokenSecretArn: arn }, "their-own-stack": { Bucket: "b" } };

  it("is read from the file of its outputs, whatever runs here; its region from its ARNs", () => {
    running("income-events-local");
    const { stage, client, output } = findDeployment({ outputs: outputsFile(stacks) }, directory);
    expect(stage).toBe("prod");
    expect(client).toEqual({ region: "eu-west-1" });
    expect(output("TokenSecretArn")).toBe(arn);
  });

  it("has another stage than the one named: nothing is chosen in its place", () => {
    const options = { stage: "dev", outputs: outputsFile(stacks) };
    expect(() => findDeployment(options, directory)).toThrow(
      /There is no stage dev on the file .*; there is: prod\./,
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
    ["no stack of ours", { "their-own-stack": {} }, "it has no stack named income-events-…"],
    ["outputs that are no texts", { "income-events-prod": { TokenSecretArn: 1 } }, "expected a text"],
    ["no ARN", { "income-events-prod": {} }, "has no TokenSecretArn"],
  ])("can't be read from %s", (_, content, reason) => {
    const options = { outputs: outputsFile(content) };
    expect(() => findDeployment(options, directory)).toThrow(reason);
    expect(() => findDeployment(options, directory)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  it("can't be read from a file that is not there", () => {
    expect(() => findDeployment({ outputs: join(directory, "none") }, directory)).toThrow(
      /can't be used: ENOENT.* Write it with: npx cdk deploy --outputs-file/,
    );
  });
});
