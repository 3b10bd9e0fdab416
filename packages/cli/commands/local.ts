import type { Command } from "commander";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
import type { LocalPlace } from "../core/running-systems.ts";
import { commandLine, counted, spanText } from "../core/text.ts";
import { forward, parseTarget, postTo } from "../forward/forward.ts";
import { type SubscriberQueue, subscriberNamed, subscriberQueues } from "../status/work-queues.ts";

type Flags = { readonly to: string; readonly subscriber: string };

/** A subscriber for developers, whose messages no other program needs. */
const ownSubscriber = "local";

const timeoutInSeconds = 20;

export function addTo(program: Command): void {
  const group = program.command("local").description("Works with a system on this machine.");
  addCommand<Flags>(group, {
    name: "forward",
    summary:
      "Forwards a subscriber's messages to an address on this machine until Ctrl-C. Posts each as a CloudEvent in JSON, and deletes it from the queue after a 2xx answer.",
    asks: true,
    examples: [
      "npx income-events local forward --to http://localhost:3000/events --outputs outputs.json",
      "npx income-events local forward --to http://localhost:3000/events --subscriber local-ada    one of several developers",
      "npx income-events local forward --to http://localhost:3000/events --stage dev --outputs outputs.json --json",
    ],
    run,
  })
    .requiredOption("--to <url>", "address that receives a POST for each message")
    .option(
      "--subscriber <name>",
      "subscriber; one that is not named local or local-… is confirmed first",
      ownSubscriber,
    );
  addCommand(group, {
    name: "show",
    summary:
      "Shows all addresses and secrets of a system on this machine, and the environment for a subscriber's program.",
    isLocal: true,
    examples: ["npx income-events local show", "npx income-events local show --json    for programs"],
    run: async ({ deployment, terminal }) => {
      const { stage, local } = deployment;
      const { details = "The program that started it wrote no addresses.", ...place }: Partial<LocalPlace> =
        local ?? {};
      terminal.result({ stage, ...place, details }, details);
    },
  });
}

async function run({ deployment, clients, terminal }: Operation, flags: Flags): Promise<void> {
  const target = parseTarget(flags.to);
  const { name, queueUrl } = chooseSubscriber(deployment, flags.subscriber);
  const isForDevelopers = name === ownSubscriber || name.startsWith(`${ownSubscriber}-`);
  if (!isForDevelopers && name === flags.subscriber)
    await terminal.confirm(
      `This takes messages from the queue of the subscriber ${name}, and its own reader misses them: each is deleted once your\n` +
        `program answers. To get copies instead, add a subscriber named ${ownSubscriber} to the stage's settings.`,
    );
  using interruption = awaitInterruption();
  const { signal } = interruption;
  const { waiting, retentionSeconds } = await queueDepth(clients.sqs, queueUrl);
  terminal.progress(
    `Forwarding the messages of the subscriber ${name} of the stage ${deployment.stage} to ${target.href}. ` +
      `About ${waiting} wait; its queue keeps them for ${spanText(retentionSeconds)}.\n` +
      commandLine`To send older messages again: npx income-events replay --subscriber ${name} --since TIME\n` +
      "Ctrl-C ends it.",
  );
  const result = await forward({
    sqs: clients.sqs,
    queueUrl,
    post: postTo(target, timeoutInSeconds, signal),
    signal,
    wait: (seconds) => waitUnlessAborted(seconds, signal),
    report: terminal.progress,
  });
  terminal.result(
    { stage: deployment.stage, subscriber: name, ...result },
    `Forwarded ${counted(result.forwarded, "message")}; what was held is back in the queue.`,
  );
}

function chooseSubscriber(deployment: Operation["deployment"], name: string): SubscriberQueue {
  const all = subscriberQueues(deployment);
  if (name !== ownSubscriber || all.some((each) => each.name === name)) return subscriberNamed(all, name);
  // On this machine, the first subscriber's queue has no other reader.
  const [first] = all;
  if (deployment.local !== undefined && first !== undefined) return first;
  throw CommandError.usage(
    `The stage ${deployment.stage} has no subscriber named ${ownSubscriber}. Add one to its settings and deploy:\n` +
      `  "subscribers": [{ "name": "${ownSubscriber}" }, …]\n` +
      "Or choose one with --subscriber: its messages are then taken from its queue.",
  );
}
