/**
 * Runs in a process of its own, once: imports a bundle, and calls its handler where an event is given.
 * `node import-once.ts <file> [<file of an event>]` prints milliseconds and the memory that the process holds then.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , file = "", eventFile] = process.argv;
const event: unknown = eventFile === undefined ? undefined : JSON.parse(readFileSync(eventFile, "utf8"));
const context = { getRemainingTimeInMillis: () => 10_000, functionName: "bench", awsRequestId: "bench" };

const began = performance.now();
const { handler } = await import(pathToFileURL(file).href);
if (event !== undefined) await handler(event, context);
const millis = performance.now() - began;

process.stderr.write(`${JSON.stringify({ millis, residentBytes: process.memoryUsage.rss() })}\n`);
// Connections that are kept would hold the process.
process.exit();
