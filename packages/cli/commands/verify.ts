import { writeFile } from "node:fs/promises";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import type { Command } from "commander";
import { documentReads } from "../../../adapters/aws/document-reads.ts";
import { storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { type DeploymentOptions, deploymentFlags } from "../core/deployment.ts";
import { collect, countFlag } from "../core/flags.ts";
import { commandLine, counted } from "../core/text.ts";
import { webhookTarget } from "../provider/webhook-sender.ts";
import { subscriberQueues, workQueue } from "../status/work-queues.ts";
import { AnnouncedDocuments, checkDocuments } from "../verify/documents.ts";
import { checkRefusals, sendEvents, WebhookSender } from "../verify/edge.ts";
import { attempt, type Check, isMark, newMark, objectKeyOf, planEvents } from "../verify/plan.ts";
import { checkDeadLetters, checkDelivered, chooseSubscribers } from "../verify/queues.ts";
import { checkStored } from "../verify/stored.ts";

type Flags = DeploymentOptions & {
  readonly subscriber?: readonly string[];
  readonly deadline: string;
  readonly atOnce: string;
  readonly json?: string | true;
  readonly erase?: string;
};

const longestDeadline = 3_600;
const maxAtOnce = 10;

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "verify",
    summary:
      "Tests a stage from webhook to subscriber with at most 100 webhooks. Empties the queue of the subscriber smoke, or reads the queues of --subscriber, whose other messages stay invisible meanwhile. Exits 1 if a check failed.",
    json: "file",
    examples: [
      "npx income-events verify    the system on this machine",
      "npx income-events verify --outputs outputs.json    a stage with a subscriber named smoke",
      "npx income-events verify --outputs outputs.json --subscriber risk    a subscriber that nobody reads yet",
      "npx income-events verify --outputs outputs.json --erase RUN    delete what a run stored",
    ],
    run: (operation, flags) =>
      flags.erase === undefined ? verify(operation, flags) : erase(operation, flags.erase),
  })
    .option("--subscriber <name>", "read this subscriber's queue; repeatable", collect)
    .option("--deadline <seconds>", "maximum wait for each step", "120")
    .option("--at-once <n>", "concurrent webhooks", String(maxAtOnce))
    .option("--erase <run>", "send nothing; delete what this run stored");
}

/** Checks the stage from outside only, by its outputs and the resources that they name. */
async function verify(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const seconds = countFlag("--deadline", flags.deadline, longestDeadline);
  const atOnce = countFlag("--at-once", flags.atOnce, maxAtOnce);
  const { stage, client, output } = deployment;
  const { dynamodb, sqs } = clients;
  const queues = subscriberQueues(deployment);
  const subscribers = chooseSubscribers(queues, flags.subscriber ?? [], client.endpoint !== undefined);
  const target = await webhookTarget(operation);
  const sender = new WebhookSender(target, atOnce);
  const checks: Check[] = [];
  const add = (some: readonly Check[]) => {
    checks.push(...some);
    for (const { name, passed, seen } of some) print(`${passed ? "ok  " : "FAIL"}  ${name}: ${seen}`);
  };
  const print = (line: string) =>
    flags.json === true ? terminal.progress(line) : void process.stdout.write(`${line}\n`);
  const mark = newMark();
  const events = planEvents(mark);
  const announced = new AnnouncedDocuments();

  terminal.progress(`Sending webhooks to ${target.webhooksUrl}`);
  add(await checkRefusals(sender));
  const { sent, checks: taken } = await sendEvents(events, mark, sender);
  add(taken);
  terminal.progress("Looking for the events in the table");
  add(await checkStored(sent, storedEvents(dynamodb, output("TableName")), seconds));
  if (sent.some(({ accepted }) => accepted > 0)) {
    terminal.progress("Looking for the messages and the dead letters in their queues");
    const onOther = (body: string) => announced.add(body);
    const inQueues = await Promise.all([
      ...subscribers.read.map((each) =>
        attempt(`subscriber ${each.name}: its queue can be read`, () =>
          checkDelivered(each, events, mark, { sqs, seconds, onOther }),
        ),
      ),
      ...webhookKinds.map((kind) =>
        attempt(`${kind}: its dead letters can be read`, () => {
          const queueUrl = workQueue(deployment, kind).deadLetterQueueUrl;
          const ofKind = events.filter((event) => event.kind === kind);
          return checkDeadLetters(kind, ofKind, mark, { sqs, queueUrl, seconds });
        }),
      ),
    ]);
    add(inQueues.flat());
  } else terminal.progress("No webhook was accepted: the queues are not checked");
  terminal.progress("Reading the documents that messages announced");
  const readDocument = documentReads(sqs.config, () => clients.lambda);
  const reads = { readDocument, documentsUrl: output("DocumentsUrl"), seconds };
  const { check, counts } = await checkDocuments(announced, reads);
  add([check]);

  const passed = checks.filter((each) => each.passed).length;
  const report = {
    ...{ stage, run: mark, passed: passed === checks.length, checks, ...counts, webhooks: sender.counts },
    subscribers: { read: subscribers.read.map(({ name }) => name), left: subscribers.left },
  };
  if (typeof flags.json === "string") await writeFile(flags.json, `${JSON.stringify(report, null, 2)}\n`);
  const left = `These subscribers were not read and keep the run's messages: ${subscribers.left.join(", ")}.`;
  const summary = [
    `\n${passed} of ${checks.length} checks of the stage ${stage} passed; ${counted(sender.counts.sent, "webhook")} sent, at most ${sender.counts.atOnce} concurrently.`,
    `${counted(counts.documentsRead, "announced document")} read, ${counts.documentsMissing} missing.`,
    ...(subscribers.left.length === 0 ? [] : [left]),
    `Ids of this run begin with ${mark}. To delete its records:`,
    commandLine`  npx income-events verify ${[...deploymentFlags(flags), "--erase", mark]}`,
  ];
  terminal.result(report, summary.join("\n"));
  if (!report.passed)
    throw CommandError.failed(
      `${counted(checks.length - passed, "check")} failed. Find the cause: npx income-events doctor`,
    );
}

async function erase({ deployment, clients, terminal }: Operation, mark: string): Promise<void> {
  if (!isMark(mark)) throw CommandError.usage("--erase: write the id of the run that verify printed.");
  const { stage, output } = deployment;
  const stored = storedEvents(clients.dynamodb, output("TableName"));
  const Bucket = output("OverflowBucketName");
  let items = 0;
  for (const event of planEvents(mark)) {
    items += await stored.erase(event.owner);
    if (event.isLarge) await clients.s3.send(new DeleteObjectCommand({ Bucket, Key: objectKeyOf(event) }));
  }
  terminal.result(
    { stage, run: mark, items },
    `Deleted ${counted(items, "item")} of the run ${mark} from the table, and its large bodies from the bucket.`,
  );
}
