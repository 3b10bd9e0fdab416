import { writeFile } from "node:fs/promises";
import { CommanderError } from "commander";
import { storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { createClients } from "../core/clients.ts";
import { exitCodes } from "../core/command-error.ts";
import { findDeployment } from "../core/deployment.ts";
import { explain } from "../core/explain.ts";
import { runningSystemsDirectory } from "../core/running-systems.ts";
import { eraseRun } from "./erase.ts";
import { newMark } from "./mark.ts";
import { parseSmokeOptions, type SmokeOptions } from "./options.ts";
import { printableCheck, printableSummary } from "./report.ts";
import { runSmoke } from "./run.ts";
import { openTarget } from "./target.ts";

const print = (text: string) => void process.stdout.write(`${text}\n`);
const reportStep = (text: string) => void process.stderr.write(`${text}\n`);

async function main(options: SmokeOptions): Promise<number> {
  return options.erase === undefined ? smoke(options) : erase(options, options.erase);
}

async function smoke(options: SmokeOptions): Promise<number> {
  const { subscriber, deadline: deadlineSeconds, atOnce, json } = options;
  const deployment = findDeployment(options, runningSystemsDirectory);
  using clients = createClients(deployment);
  const target = await openTarget(deployment, clients, subscriber);
  const reporter = {
    step: reportStep,
    check: (check: Parameters<typeof printableCheck>[0]) => print(printableCheck(check)),
  };
  const report = await runSmoke(target, { mark: newMark(), atOnce, deadlineSeconds }, reporter);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
  print(`\n${printableSummary(report, options)}`);
  return report.passed ? 0 : exitCodes.failed;
}

async function erase(options: SmokeOptions, mark: string): Promise<number> {
  const deployment = findDeployment(options, runningSystemsDirectory);
  using clients = createClients(deployment);
  const stored = storedEvents(clients.dynamodb, deployment.output("TableName"));
  const bucketName = deployment.output("OverflowBucketName");
  const items = await eraseRun({ stored, s3: clients.s3, bucketName }, mark);
  print(`Deleted ${items} items of the run ${mark} from the table, and its large bodies from the bucket.`);
  return 0;
}

try {
  process.exitCode = await main(parseSmokeOptions(process.argv.slice(2)));
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
  else {
    const { exitCode, message } = explain(error);
    process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}
