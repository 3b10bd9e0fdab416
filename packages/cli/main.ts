#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { compileCacheDirectory } from "./core/places.ts";

// Before the commands are loaded. Works without a cache if the directory is read-only.
enableCompileCache(compileCacheDirectory);
// The output's reader has gone (`| head`). Commands that must clean up listen for this themselves.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.stdout.listenerCount("error") === 1) process.exit(0);
});
const { runProgram } = await import("./program.ts");

process.exitCode = await runProgram(process.argv.slice(2));
