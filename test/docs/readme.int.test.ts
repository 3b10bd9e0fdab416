import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");
const readme = textOf("README.md");

describe("the README", () => {
  it("is read in two minutes: it has 150 lines at most", () => {
    expect(readme.split("\n").length - 1).toBeLessThanOrEqual(150);
  });

  it("begins with the package and what to type in an app, CONTRIBUTING with what to type in a clone", () => {
    const [begin = "", first = ""] = readme.split(/^## /m);
    expect(begin).toMatch(/^# income-events\n\n`@income-events\/cdk` is a construct for AWS CDK apps\./);
    expect(first).toMatch(/^In an app of your own\n[\s\S]*^npx .* init my-events$/m);
    expect(textOf("CONTRIBUTING.md")).toMatch(/^# .*\n\nFor whoever clones the repository;.*\n\n`npm ci`/);
  });

  it("names only costs that the page of costs has", () => {
    const cost = textOf("docs/evidence/cost.md");
    const figures = [...readme.matchAll(/\b\d+\.\d\d\b/g)].map(([figure]) => figure);
    expect(figures.length).toBeGreaterThan(5);
    expect(figures.filter((figure) => !cost.includes(figure))).toEqual([]);
  });

  it("shows addresses as the start prints them", () => {
    const source = textOf("packages/local-stack/addresses.ts");
    const [, block = ""] = /prints the addresses[\s\S]*?```\n([\s\S]*?)```/.exec(readme) ?? [];
    const labels = block.split("\n").flatMap((line) => (line === "" ? [] : [line.slice(0, 14)]));
    expect(labels).toHaveLength(4);
    expect(labels.filter((label) => !source.includes(label))).toEqual([]);
  });
});

describe("the index of the documents", () => {
  const index = textOf("docs/README.md");

  it.each(globSync("docs/{guide,operate,reference,evidence}/*.md", { cwd: root }))("has %s", (page) => {
    expect(index).toContain(`(${page.replace("docs/", "")})`);
  });
});
