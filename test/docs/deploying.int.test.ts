import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseSettings } from "../../lib/settings/settings.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const textOf = (name: string) =>
  readFileSync(join(import.meta.dirname, `../../docs/operate/${name}.md`), "utf8");
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

describe("the guide of deployment", () => {
  const guide = textOf("deploying");

  it("reads outputs that the stack has", () => {
    const arn = "arn:aws:acm:eu-central-1:123456789012:certificate/0f8fad5b";
    const customDomain = { name: "hooks.company.com", certificateArn: arn };
    const { outputs } = synthesized({ ...productionSettings, webhooks: { customDomain } });
    const named = all(/\$\(output (\w+)\)/g, guide);
    expect(named).toContain("TableName");
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
  });

  it("shows settings of production that are taken", () => {
    const [example = ""] = all(/```json\n([\s\S]*?)```/g, guide);
    expect(parseSettings(JSON.parse(example), "the guide").production).toBe(true);
  });
});

it("The loop of the restore guide waits until the restored table is active", () => {
  const [loop = ""] = all(/^ *(until aws .*)$/gm, textOf("restore"));
  // The table is there at once, and active the third time that its status is read.
  const aws =
    'aws() { if [ "$(wc -l < reads)" -ge 2 ]; then echo ACTIVE; else echo CREATING; fi; echo >> reads; }';
  const directory = mkdtempSync(join(tmpdir(), "restore-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const script = `touch reads; ${aws}; sleep() { :; }; ${loop}`;
  execFileSync("bash", ["-c", script], { cwd: directory });
  expect(readFileSync(join(directory, "reads"), "utf8")).toBe("\n\n\n");
});
