import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { operatingPage } from "../../scripts/operating/document.ts";
import { tasks } from "../../scripts/operating/tasks.ts";
import { runInProcess } from "../support/in-process.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operate/operating.md"), "utf8");
const commands = [...page.matchAll(/^\$ npx income-events (.+)$/gm)].map(([, line = ""]) => line);
const sections = page.split(/^## /m).slice(1);

describe("the page of the most common tasks", () => {
  it("shows ten, each with what its commands printed", () => {
    expect(tasks).toHaveLength(10);
    expect(sections.map((section) => section.split("\n")[0])).toEqual(
      tasks.map(({ title }, index) => `${index + 1}. ${title}`),
    );
    for (const [index, { text }] of tasks.entries()) {
      expect(sections[index]).toContain(text);
      expect(sections[index]).toMatch(/```console\n\$ npx income-events .+\n[^$`]/);
    }
  });

  it("holds no command that failed but a doctor that finds something, and a look for who is erased", () => {
    expect([...page.matchAll(/\(exit code (\d+)\)/g)].map(([, code]) => code)).toEqual(["1", "4"]);
    expect(page.split("(exit code 1)")[0]).toMatch(/\$ npx income-events doctor\n[^$]*$/);
    expect(page.split("(exit code 4)")[0]).toMatch(
      /\$ npx income-events events list --user [^$]*nothing is known[^$]*$/,
    );
  });

  it("names only commands and options that there are", async () => {
    const names = new Set(
      commands.map((line) => line.split(/ (?=--)/)[0]?.replace(/ [\w-]*\d[\w-]*/g, "") ?? ""),
    );
    for (const name of names) {
      const words = name.split(" ").slice(0, 2);
      const help = await runInProcess([...words, "--help"]);
      expect(help.code, name).toBe(0);
      for (const line of commands.filter((each) => each.startsWith(name))) {
        for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(help.stdout, line).toContain(option);
      }
    }
  });

  it("is made of what was recorded: command, output, and the exit code where it is not 0", () => {
    const task = { title: "Look", text: "To see." };
    const runs = [
      { command: "status", output: "fine\n", code: 0 },
      { command: "doctor", output: "ill\n", code: 1 },
    ];
    expect(operatingPage([{ task, runs }])).toContain(
      "## 1. Look\n\nTo see.\n\n```console\n$ npx income-events status\nfine\n$ npx income-events doctor\nill\n(exit code 1)\n```\n",
    );
  });
});
