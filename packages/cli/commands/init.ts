import { resolve } from "node:path";
import type { Command } from "commander";
import { addOfflineCommand } from "../core/command.ts";
import { commandLine } from "../core/command-line.ts";
import { builtPackages, packageDirectory, packageVersion, templateDirectory } from "../core/places.ts";
import { filesBeside, filesIn, writeApp } from "../init/write-app.ts";

export function addTo(program: Command): void {
  addOfflineCommand(program, {
    name: "init <folder>",
    summary:
      "Writes a small CDK app with the pipeline into a new folder: stages, a subscriber, a test and a workflow.",
    examples: [
      "npx income-events init my-events",
      "npx income-events init my-events --json    print the file names for a program",
    ],
    run: async (terminal, _, folder = "") => {
      const version = packageVersion();
      const files =
        builtPackages === undefined
          ? filesBeside(packageDirectory, version)
          : filesIn(builtPackages, version);
      const written = writeApp(folder, { files, template: templateDirectory });
      terminal.result(
        { folder: resolve(folder), files: written },
        [
          `Wrote ${written.length} files to ${folder}:`,
          ...written.map((file) => `  ${file}`),
          "",
          "Run it on this machine, beside a sandbox of the provider:",
          commandLine`  cd ${folder} && npm install && npm run dev`,
          "Before it is deployed, fill in stages/prod.json: the provider's address, and the recipients of alarms.",
        ].join("\n"),
      );
    },
  });
}
