import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Origin } from "./results.ts";

const repository = join(import.meta.dirname, "../../..");
const packageFile = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});
const reported = [
  "@aws-sdk/client-dynamodb",
  "@aws-sdk/client-sqs",
  "@aws-lambda-powertools/batch",
  "@middy/core",
  "zod",
];

/** What figures of today are measured on. */
export function originOf(now: Date): Origin {
  const { dependencies, devDependencies } = packageFile.parse(
    JSON.parse(readFileSync(join(repository, "package.json"), "utf8")),
  );
  const versions = { ...devDependencies, ...dependencies };
  return {
    date: now.toISOString().slice(0, 10),
    commit: commitOf(),
    machine: `${cpus().length} cores (${cpus()[0]?.model ?? process.arch}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`,
    versions: {
      Node: process.versions.node,
      ...Object.fromEntries(reported.map((name) => [name, versions[name] ?? "unknown"])),
    },
  };
}

function commitOf(): string {
  const git = (...args: readonly string[]) =>
    execFileSync("git", args, {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    const isChanged =
      git("status", "--porcelain", "--", ":!proof/bench/results", ":!proof/bench/README.md") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${isChanged ? "+" : ""}`;
  } catch {
    return "unknown";
  }
}
