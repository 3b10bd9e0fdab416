import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nameOf, productionSettings, type Resource, synthesized } from "../lib/synthesized.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operate/data-protection.md"), "utf8");
const rows = page.split("\n").filter((line) => /^\| `/.test(line));
const stack = synthesized(productionSettings);
const day = 86_400;

/** Rows about something; `…` stands for any dead letters. */
function rowsOf(name: string): readonly string[] {
  return rows.filter((row) => {
    const named = [...(row.match(/^\|[^|]*\|/)?.[0] ?? "").matchAll(/`([^`]+)`/g)].map(
      ([, text = ""]) => text,
    );
    return named.some((text) =>
      new RegExp(`^${text.replace("…", "[A-Za-z]+").replace("#", "\\#?")}$`).test(name),
    );
  });
}

const names = (type: string) =>
  stack.ofType(type).map((resource): [string, Resource] => [nameOf(resource.id), resource]);
const rules = z.object({
  Rules: z.array(z.object({ Prefix: z.string().optional(), ExpirationInDays: z.number().optional() })),
});

describe("the page on data protection", () => {
  it.each(names("AWS::SQS::Queue"))("states the retention of messages: %s", (name, { Properties }) => {
    const [row, ...others] = rowsOf(name);
    expect(others).toEqual([]);
    expect(row).toContain(`${Number(Properties.MessageRetentionPeriod) / day} days`);
  });

  it.each(names("AWS::S3::Bucket"))("states the retention of objects: %s", (name, { Properties }) => {
    const found = rowsOf(name);
    expect(found.length).toBeGreaterThan(0);
    for (const { Prefix, ExpirationInDays } of rules.parse(Properties.LifecycleConfiguration).Rules) {
      if (ExpirationInDays === undefined) continue;
      const row = found.find((each) => Prefix === undefined || each.includes(`\`${Prefix}\``));
      expect(row, Prefix).toContain(`${ExpirationInDays} days`);
    }
  });

  it.each(names("AWS::Logs::LogGroup"))("states the retention of log entries: %s", (name, { Properties }) => {
    expect(rowsOf(name)).toEqual([expect.stringContaining(`${Properties.RetentionInDays} days`)]);
  });

  it("states the days after which items of the table expire, as the functions get them", () => {
    const days = (name: string, field: string) =>
      Number(z.record(z.string(), z.unknown()).parse(stack.bundles.get(name))[field]);
    const rowOf = (key: string) => rows.find((row) => row.startsWith(`| \`${key}\``));
    expect(rowOf("EVENT#")).toContain(`${days("store/users", "retentionDays")} days`);
    expect(rowOf("TOMBSTONE")).toContain(`${days("erase/subjects", "tombstoneDays")} days`);
  });

  it("names only resources of the stack", () => {
    const types = ["GlobalTable", "Queue", "Bucket", "Secret", "LogGroup"];
    const all = stack.resources.filter(({ Type }) => types.some((type) => Type.endsWith(`::${type}`)));
    const known = all.map(({ id }) => nameOf(id));
    const named = [
      ...page.matchAll(/`([A-Z][A-Za-z]*(?:Queue|DeadLetters|Bucket|Secret|Logs?|Key|Failures|Table))`/g),
    ];
    for (const [, text = ""] of named) expect(known).toContain(text);
    expect(named.length).toBeGreaterThan(15);
  });
});
