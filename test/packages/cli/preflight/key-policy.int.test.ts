import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { productionSettings } from "../../../lib/synthesized.ts";
import { runInProcess } from "../../../support/in-process.ts";

const directory = mkdtempSync(join(tmpdir(), "key-policy-"));
afterAll(() => rmSync(directory, { recursive: true }));

const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";

function run(settings: object, ...flags: string[]) {
  const file = join(directory, "settings.json");
  writeFileSync(file, JSON.stringify(settings));
  return runInProcess(["key-policy", "--stage", "prod", "--settings", file, ...flags]);
}

it("prints the statements of a stage that is not deployed yet, without AWS", async () => {
  const settings = { ...productionSettings, encryption: { keyArn } };
  const { code, stdout } = await run(settings);
  expect(code).toBe(0);
  const statements: unknown = JSON.parse(stdout);
  const principals = ["logs.eu-central-1.amazonaws.com", "cloudwatch.amazonaws.com"];
  expect(statements).toMatchObject([
    ...principals.map((Service) => ({ Principal: { Service } })),
    { Principal: { AWS: ["arn:aws:iam::210987654321:root"] } },
  ]);
  expect((await run(settings, "--json")).json()).toEqual({ statements });
});

it("says that a stage without a key of its own needs none, and exits 2", async () => {
  expect(await run(productionSettings)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("encryption.keyArn"),
  });
});

it("names what is wrong with the settings", async () => {
  expect(await run({ production: true })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("alarms:"),
  });
});
