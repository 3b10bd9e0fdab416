#!/usr/bin/env node
import module from "node:module";
import { fileURLToPath } from "node:url";

// In a file of its own, which an older Node can read, and before the commands: compiling them takes most of their start.
const oldest = 22;
if (Number(process.versions.node.split(".")[0]) < oldest) {
  process.stderr.write(
    `income-events needs Node ${oldest} or later; this is ${process.version}. Install it, for example: nvm install 24\n`,
  );
  process.exitCode = 1;
} else {
  module.enableCompileCache?.(fileURLToPath(new URL("../.local/compile-cache", import.meta.url)));
  await import("./cli.mjs");
}
