import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { parseSubscribers, type Subscriber } from "../../../domain/message/message.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";

/** A queue of the stage and its dead-letter queue, by the name that commands use. */
export type WorkQueue = {
  /** A webhook kind, `fetch`, `checks`, `deadlines`, `erase`, or `subscriber/<name>`. */
  readonly name: string;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
};

export type SubscriberQueue = Subscriber & Pick<WorkQueue, "queueUrl" | "deadLetterQueueUrl">;

/** The queues that the stage's own functions read, in the order in which data flows. */
export const ownQueues = [...webhookKinds, "fetch", "checks", "deadlines", "erase"] as const;
type OwnQueue = (typeof ownQueues)[number];

type Outputs = Pick<Deployment, "output" | "optionalOutput">;

/** Prefixes of the queues' output names. */
const outputPrefixes: Readonly<Record<OwnQueue, string>> = {
  users: "Users",
  accounts: "Accounts",
  endpoints: "Endpoints",
  "company-accounts": "CompanyAccounts",
  fetch: "Fetch",
  checks: "Checks",
  deadlines: "Deadlines",
  erase: "Erase",
};

/**
 * Every queue of the stage, in the order in which data flows. @throws CommandError if an output is missing
 */
export function workQueues(deployment: Outputs): readonly WorkQueue[] {
  const subscribers = subscriberQueues(deployment).map(({ name, queueUrl, deadLetterQueueUrl }) => ({
    name: `subscriber/${name}`,
    queueUrl,
    deadLetterQueueUrl,
  }));
  return [...ownQueuesOf(deployment).map((name) => workQueue(deployment, name)), ...subscribers];
}

/** The own queues of a stage; there are deadlines only with `readiness`. */
export function ownQueuesOf({ optionalOutput }: Pick<Outputs, "optionalOutput">): readonly OwnQueue[] {
  const hasDeadlines = optionalOutput(`${outputPrefixes.deadlines}QueueUrl`) !== undefined;
  return ownQueues.filter((name) => name !== "deadlines" || hasDeadlines);
}

export function workQueue({ output }: Pick<Outputs, "output">, name: OwnQueue): WorkQueue {
  const prefix = outputPrefixes[name];
  return {
    name,
    queueUrl: output(`${prefix}QueueUrl`),
    deadLetterQueueUrl: output(`${prefix}DeadLetterQueueUrl`),
  };
}

/** The ARN of a queue, which event sources need. */
export function workQueueArn({ output }: Pick<Outputs, "output">, name: OwnQueue): string {
  return output(`${outputPrefixes[name]}QueueArn`);
}

/**
 * Subscribers, the types that they receive, and their queues. @throws permanent failure naming the field of
 * the output
 */
export function subscriberQueues({ output }: Pick<Outputs, "output">): readonly SubscriberQueue[] {
  const value = parseJson(output("Subscribers"), "the output Subscribers");
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return parseSubscribers(value).map((subscriber, index) => {
    const fields = fieldsOf(entries[index], "Subscribers");
    return {
      ...subscriber,
      queueUrl: textOf(fields, "queueUrl"),
      deadLetterQueueUrl: textOf(fields, "deadLetterQueueUrl"),
    };
  });
}

/** @throws CommandError naming the stage's subscribers */
export function subscriberNamed(deployment: Pick<Deployment, "output">, name: string): SubscriberQueue {
  const all = subscriberQueues(deployment);
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = all.map((each) => each.name).join(", ") || "none";
  throw CommandError.usage(`No subscriber ${name}. The stage has: ${known}.`);
}
