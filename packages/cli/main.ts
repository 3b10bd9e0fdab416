#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { compileCacheDirectory } from "./core/places.ts";

// Before the commands are loaded. Where the directory can't be written to, it is done without.
enableCompileCache(compileCacheDirectory);
// Whoever read the output has gone (`| head`): nothing is left to say. What has to end in order listens for itself.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.stdout.listenerCount("error") === 1) process.exit(0);
});
const { runProgram } = await import("./program.ts");

process.exitCode = await runProgram(process.argv.slice(2));
