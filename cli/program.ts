import { Command, CommanderError } from "commander";
import { addCompletion } from "./commands/completion.ts";
import { addDlqList } from "./commands/dlq-list.ts";
import { addDlqPurge } from "./commands/dlq-purge.ts";
import { addDlqRedrive } from "./commands/dlq-redrive.ts";
import { addDlqShow } from "./commands/dlq-show.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addErase } from "./commands/erase.ts";
import { addEraseApplyLog } from "./commands/erase-apply-log.ts";
import { addEventsList } from "./commands/events-list.ts";
import { addEventsShow } from "./commands/events-show.ts";
import { addEventsTail } from "./commands/events-tail.ts";
import { addLocalForward } from "./commands/local-forward.ts";
import { addMappingLearn } from "./commands/mapping-learn.ts";
import { addMappingTry } from "./commands/mapping-try.ts";
import { addRecordsShow } from "./commands/records-show.ts";
import { addRepair } from "./commands/repair.ts";
import { addReplay } from "./commands/replay.ts";
import { addRestore } from "./commands/restore.ts";
import { addSecretRotate } from "./commands/secret-rotate.ts";
import { addStatus } from "./commands/status.ts";
import { addSubscribersList } from "./commands/subscribers-list.ts";
import { addSubscribersTail } from "./commands/subscribers-tail.ts";
import { addSubscribersTest } from "./commands/subscribers-test.ts";
import { addTokenRefresh } from "./commands/token-refresh.ts";
import { addTokenSet } from "./commands/token-set.ts";
import { addTokenShow } from "./commands/token-show.ts";
import { addWebhooksList } from "./commands/webhooks-list.ts";
import { addWebhooksRegister } from "./commands/webhooks-register.ts";
import { completionLines } from "./completion/complete.ts";
import { completeWord } from "./completion/scripts.ts";
import { exitCodes } from "./core/command-error.ts";
import { explain } from "./core/explain.ts";

const help = `
Commands work on the system that npm start keeps up on this machine; with --outputs on a stage in AWS, with the
credentials that AWS's own tools would use there.
Exit codes: 0 done, ${exitCodes.failed} failed, ${exitCodes.usage} used wrongly or not confirmed, ${exitCodes.noDeployment} no deployment or no access to it.

Example:
  npx income-events webhooks register --help`;

/** The whole command line. */
export function createProgram(): Command {
  // Before the groups: they take over how errors are told.
  const program = new Command("income-events")
    .description("Operates the pipeline of an income-data service's events.")
    .exitOverride()
    .addHelpText("after", help);
  addStatus(program);
  addDoctor(program);
  const token = program.command("token").description("the provider's token");
  for (const add of [addTokenSet, addTokenShow, addTokenRefresh]) add(token);
  const webhooks = program.command("webhooks").description("the webhooks at the provider");
  for (const add of [addWebhooksRegister, addWebhooksList]) add(webhooks);
  addSecretRotate(program.command("secret").description("the secret that webhooks carry"));
  addRecordsShow(program.command("records").description("what is known of users and accounts"));
  addEvents(program.command("events").description("the events that are stored"));
  addMapping(program.command("mapping").description("how a provider's webhooks become events"));
  const subscribers = program.command("subscribers").description("who gets the events");
  for (const add of [addSubscribersList, addSubscribersTail, addSubscribersTest]) add(subscribers);
  addReplay(program);
  addRepair(program);
  addCompletion(program);
  addLocalForward(program.command("local").description("a deployed stage's events, on your own machine"));
  const letters = program.command("dlq").description("dead letters: what could not be processed");
  for (const add of [addDlqList, addDlqShow, addDlqRedrive, addDlqPurge]) add(letters);
  const erase = program.command("erase").description("users and accounts, for good");
  for (const add of [addErase, addEraseApplyLog]) add(erase);
  addRestore(program);
  return program;
}

function addMapping(group: Command): void {
  addMappingTry(group);
  addMappingLearn(group);
}

function addEvents(group: Command): void {
  addEventsList(group);
  addEventsShow(group);
  addEventsTail(group);
}

/** Runs a command line. @returns the exit code; what went wrong was told on the standard error */
export async function runProgram(args: readonly string[], program = createProgram()): Promise<number> {
  const [first, ...words] = args;
  if (first === completeWord) {
    process.stdout.write(completionLines(program, words));
    return 0;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Told by commander already; a help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    const { exitCode, message } = explain(error);
    process.stderr.write(`${message}\n`);
    return exitCode;
  }
}
