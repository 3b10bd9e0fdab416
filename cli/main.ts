#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Before anything else is loaded. Where the directory can't be written to, it is done without.
enableCompileCache(join(import.meta.dirname, "../.local/compile-cache"));
const { runProgram } = await import("./program.ts");

process.exitCode = await runProgram(process.argv.slice(2));
