import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseSettings } from "../../lib/settings/settings.ts";
import { prices } from "../../proof/bench/price/prices.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const textOf = (name: string) =>
  readFileSync(join(import.meta.dirname, `../../docs/operate/${name}.md`), "utf8");
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

describe("the guide of deployment", () => {
  const guide = textOf("deploying");

  it("reads only outputs of the stack", () => {
    const arn = "arn:aws:acm:eu-central-1:123456789012:certificate/0f8fad5b";
    const customDomain = { name: "hooks.company.com", certificateArn: arn };
    const { outputs } = synthesized({ ...productionSettings, webhooks: { customDomain } });
    const named = all(/\$\(output (\w+)\)/g, guide);
    expect(named).toContain("TableName");
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
  });

  const [, removal = ""] = /^## A removal$([\s\S]*?)^## /m.exec(guide) ?? [];
  const removals = all(/```sh\n([\s\S]*?)```/g, removal).filter((block) =>
    /^aws (?:s3|dynamodb) /m.test(block),
  );

  /** Runs a block with stand-ins for programs. @returns what was called of the AWS CLI, and what the shell says */
  function callsOf(
    block: string,
    aws: string,
  ): { readonly calls: readonly string[]; readonly stderr: string } {
    const directory = mkdtempSync(join(tmpdir(), "removal-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    // Functions, not files: a file that was just written cannot be executed while a forked process holds it open.
    const commands = `aws() { echo "$@" >> calls; ${aws}; }; npx() { :; }; node() { :; }`;
    const script = `${commands}; output() { echo "$1"; }; ${block}`;
    const { stderr } = spawnSync("bash", ["-c", script], { cwd: directory, encoding: "utf8" });
    const isCalled = readdirSync(directory).includes("calls");
    const text = isCalled ? readFileSync(join(directory, "calls"), "utf8") : "";
    return { calls: text.trim().split("\n"), stderr };
  }

  it.each([
    ["aws-cli/1.44.2 Python/3.12.3", false],
    ["aws-cli/2.33.0 Python/3.13.7", true],
  ])("removes nothing with a version of the AWS CLI that ignores endpoints: %s", (version, isTaken) => {
    expect(removals).toHaveLength(2);
    for (const block of removals) {
      const { calls, stderr } = callsOf(block, `[ "$1" != --version ] || echo "${version}"`);
      expect(calls, stderr).toContain("--version");
      expect(calls.some((call) => call !== "--version")).toBe(isTaken);
    }
  });

  it("deletes the queues of removed subscribers, and none of another stage whose name begins alike", () => {
    const answers = [
      '*--version*) echo "aws-cli/2.33.0" ;;',
      "*list-queues*) printf 'removed\\ttwo\\tuntagged\\n' ;;",
      "*list-queue-tags*removed*) echo income-events-prod ;;",
      "*list-queue-tags*two*) echo income-events-prod-two ;;",
      "*list-queue-tags*) echo None ;;",
    ];
    const { calls } = callsOf(removals.at(-1) ?? "", `case "$*" in ${answers.join(" ")} esac`);
    expect(calls.filter((call) => call.startsWith("sqs delete-queue"))).toEqual([
      "sqs delete-queue --queue-url removed",
    ]);
  });

  it("says what the rest of a removed production stage costs a month", () => {
    const secrets = synthesized(productionSettings).ofType("AWS::SecretsManager::Secret").length;
    const { secretMonth, tableGigabyteMonth, tableRecoveryGigabyteMonth } = prices;
    const rows = [...removal.matchAll(/^\| (\d*)[^|]* \| ([\d.]+) \|$/gm)].map(([, count, cost]) => [
      count,
      cost,
    ]);
    expect(rows).toEqual([
      [String(secrets), (secrets * secretMonth).toFixed(2)],
      ["", (tableGigabyteMonth + tableRecoveryGigabyteMonth).toFixed(2)],
      ["", String(prices.objectGigabyteMonth)],
      ["", String(prices.logGigabyteMonth)],
      ["", "0"],
    ]);
    expect(removal).toContain(`prices of ${prices.region} on ${prices.date}`);
  });

  it("shows valid settings of production", () => {
    const [example = ""] = all(/```json\n([\s\S]*?)```/g, guide);
    expect(parseSettings(JSON.parse(example), "the guide").production).toBe(true);
  });
});

it("The loop of the restore guide waits until the restored table is active", () => {
  const [loop = ""] = all(/^ *(until aws .*)$/gm, textOf("restore"));
  // The table exists at once, and becomes active at the third read of its status.
  const aws =
    'aws() { if [ "$(wc -l < reads)" -ge 2 ]; then echo ACTIVE; else echo CREATING; fi; echo >> reads; }';
  const directory = mkdtempSync(join(tmpdir(), "restore-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const script = `touch reads; ${aws}; sleep() { :; }; ${loop}`;
  execFileSync("bash", ["-c", script], { cwd: directory });
  expect(readFileSync(join(directory, "reads"), "utf8")).toBe("\n\n\n");
});
