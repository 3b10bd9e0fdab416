/**
 * Runs once in its own process: imports a bundle, and calls its handler if an event is given. Its last
 * arguments are the bundle's file and the event's file or an empty string. Prints milliseconds and memory
 * usage.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [file = "", eventFile = ""] = process.argv.slice(-2);
const event: unknown = eventFile === "" ? undefined : JSON.parse(readFileSync(eventFile, "utf8"));
const context = { getRemainingTimeInMillis: () => 10_000, functionName: "bench", awsRequestId: "bench" };

const began = performance.now();
const { handler } = await import(pathToFileURL(file).href);
const answer: unknown = event === undefined ? undefined : await handler(event, context);
const millis = performance.now() - began;

// A refusal would be quick and must not count as an answer.
const status = Number(Object(answer).statusCode ?? 200);
if (status > 299) throw new Error(`the first call was answered ${status}`);

process.stderr.write(`${JSON.stringify({ millis, residentBytes: process.memoryUsage.rss() })}\n`);
// Connections that are kept alive would keep the process running.
process.exit();
