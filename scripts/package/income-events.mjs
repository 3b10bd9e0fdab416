#!/usr/bin/env node
import module from "node:module";
import { fileURLToPath } from "node:url";

// A separate file that older Node versions can parse, loaded before the commands, whose compilation takes
// most of the start.
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
