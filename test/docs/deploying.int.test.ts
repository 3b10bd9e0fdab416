import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { parseSettings } from "../../lib/settings/settings.ts";
import { newMark } from "../../packages/cli/smoke/mark.ts";
import { planEvents } from "../../packages/cli/smoke/plan.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const repository = join(import.meta.dirname, "..", "..");
const textOf = (file: string) => readFileSync(join(repository, file), "utf8");
const guide = textOf("docs/operate/deploying.md");
const guides = [guide, textOf("docs/operate/smoke.md"), textOf("docs/operate/upgrading.md")].join("\n");
const all = (pattern: RegExp, text = guides) => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? "")),
];

describe("the guides of deployment and smoke tests", () => {
  it("name scripts and commands that exist", () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(textOf("package.json")));
    const named = all(/npm run ([a-z:-]+)/g);
    expect(named).toContain("smoke");
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
    const commands = all(/npx income-events ([a-z-]+(?: [a-z-]+)?)(?= --| <)/g);
    expect(commands).toEqual(["key-policy", "preflight", "token set", "webhooks register"]);
    for (const command of commands)
      expect(
        existsSync(join(repository, "packages", "cli", "commands", `${command.replace(" ", "-")}.ts`)),
      ).toBe(true);
  });

  it("name what preflight asks of AWS, which credentials need a permission for", () => {
    const directory = join("packages", "cli", "preflight");
    const sources = readdirSync(join(repository, directory)).map((file) => textOf(join(directory, file)));
    const asked = all(/\b(?:new |paginate)([A-Z]\w+?)(?:Command)?\(/g, sources.join("\n"));
    const operations = asked.filter((name) => !/Client$|Error$|^RegExp$|^Map$|^DisposableStack$/.test(name));
    const [sentence = ""] = all(/The credentials need ([^.]+)\./g, guide);
    const named = all(/`\w+:(\w+)`/g, sentence);
    // Everybody may ask who they are.
    expect(operations.filter((name) => name !== "GetCallerIdentity").sort()).toEqual(named.sort());
  });

  it("name outputs that the stack has", () => {
    const arn = "arn:aws:acm:eu-central-1:123456789012:certificate/0f8fad5b";
    const customDomain = { name: "hooks.company.com", certificateArn: arn };
    const { outputs } = synthesized({ ...productionSettings, webhooks: { customDomain } });
    const named = [...all(/\$\(output (\w+)\)/g), ...all(/outputs? `(\w+)`/g)];
    expect(named).toEqual(expect.arrayContaining(["TableName", "WebhooksDomainTarget"]));
    expect(Object.keys(outputs)).toEqual(expect.arrayContaining(named));
  });

  it("name tests and documents that exist", () => {
    const tests = all(/`(test\/[\w/.-]+)`/g);
    expect(tests.length).toBeGreaterThan(10);
    const links = all(/\]\(([^)#]+)/g).map((link) => join("docs", "operate", link));
    for (const file of [...tests, ...links]) expect(existsSync(join(repository, file)), file).toBe(true);
  });

  it("say how to deploy without a terminal, by when addresses confirm, and what is counted too low", () => {
    expect(guide).toContain("`--require-approval never`");
    expect(guide).toMatch(/must follow its link within 48 hours/);
    expect(textOf("docs/operate/runbook.md")).toContain("it may hold fewer lines than there were refusals");
  });

  it("wait for a restored table by its status, as long as that takes", () => {
    const restore = textOf("docs/operate/restore.md");
    const [loop = ""] = all(/^ *(until aws .*)$/gm, restore);
    // The table is there at once, and active the third time that somebody looks.
    const aws =
      'aws() { if [ "$(wc -l < looks)" -ge 2 ]; then echo ACTIVE; else echo CREATING; fi; echo >> looks; }';
    const directory = mkdtempSync(join(tmpdir(), "restore-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const script = `touch looks; ${aws}; sleep() { :; }; ${loop}`;
    execFileSync("bash", ["-c", script], { cwd: directory });
    expect(readFileSync(join(directory, "looks"), "utf8")).toBe("\n\n\n");
    expect(all(/^ *(aws \S+ wait .*)$/gm, restore)).toEqual([]);
  });

  it("show settings of production that are taken", () => {
    const [example = ""] = all(/```json\n([\s\S]*?)```/g, guide);
    expect(parseSettings(JSON.parse(example), "the guide").subscribers[1]).toMatchObject({ name: "smoke" });
  });

  it("say how many webhooks and events a smoke test sends", () => {
    const events = planEvents(newMark());
    const withSecret = events.reduce((sum, { times }) => sum + times, 0);
    // To each of the four kinds: one without the secret, one with a wrong one, two methods, one unreadable body.
    expect(all(/sends (\d+) webhooks/g)).toEqual([String(withSecret + 4 * 5)]);
    expect(all(/(\d+) events/g)).toEqual([String(events.length)]);
  });
});
