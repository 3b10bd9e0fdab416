import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { fieldsOf, optionalText, parseJson, textOf } from "../../../domain/core/parse.ts";
import { packageDirectory } from "../core/places.ts";

const directory = join(packageDirectory, ".local/completion");

/**
 * Gives a command the options and arguments that an earlier Tab has kept: to know them from its file takes the clients of
 * AWS, and most of a Tab's time.
 * @returns whether they were kept, of the files as they are now
 */
export function addKept(command: Command, name: string): boolean {
  try {
    const kept = fieldsOf(parseJson(readFileSync(fileOf(name), "utf8"), "kept"), "kept");
    for (const flags of listOf(kept.options)) {
      const option = fieldsOf(flags, "option");
      command.option(textOf(option, "flags"), optionalText(option, "description") ?? "");
    }
    for (const argument of listOf(kept.arguments)) command.argument(String(argument));
    return true;
  } catch {
    // Nothing was kept, or the directory can't be read: a Tab is slower then.
    return false;
  }
}

/** Keeps the options and arguments of a command for the next Tab, where that can be written. */
export function keepCommand(command: Command, name: string): void {
  const content = {
    options: command.options.map(({ flags, description }) => ({ flags, description })),
    arguments: command.registeredArguments.map((each) =>
      each.required ? `<${each.name()}>` : `[${each.name()}]`,
    ),
  };
  try {
    mkdirSync(directory, { recursive: true });
    // What was kept of the files as they were before.
    for (const old of globSync(`${name}-????????????????.json`, { cwd: directory }))
      rmSync(join(directory, old), { force: true });
    const file = fileOf(name);
    writeFileSync(`${file}.draft`, JSON.stringify(content));
    renameSync(`${file}.draft`, file);
  } catch {
    // As above.
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Named by what the commands' files are now, so that a change of one is seen. */
function fileOf(name: string): string {
  const stamps = globSync("{cli/**/*.ts,dist/*.mjs}", { cwd: packageDirectory })
    .toSorted()
    .map((file) => `${file} ${statSync(join(packageDirectory, file)).mtimeMs}`);
  const digest = createHash("sha256").update(stamps.join("\n")).digest("hex").slice(0, 16);
  return join(directory, `${name}-${digest}.json`);
}
