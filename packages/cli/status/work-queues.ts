import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { parseSubscribers, type Subscriber } from "../../../domain/message/subscribers.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";

/** A queue of the stage and its dead letters, by the name that commands give it. */
export type WorkQueue = {
  /** A webhook kind, `fetch`, `checks`, `erase`, or `subscriber/<name>`. */
  readonly name: string;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
};

export type SubscriberQueue = Subscriber & Pick<WorkQueue, "queueUrl" | "deadLetterQueueUrl">;

/** The queues that functions of the stage itself read, in the order of the data's way. */
export const ownQueues = [...webhookKinds, "fetch", "checks", "erase"] as const;
type OwnQueue = (typeof ownQueues)[number];

type Outputs = Pick<Deployment, "output">;

/** What the names of a queue's outputs begin with. */
const outputPrefixes: Readonly<Record<OwnQueue, string>> = {
  users: "Users",
  accounts: "Accounts",
  endpoints: "Endpoints",
  "company-accounts": "CompanyAccounts",
  fetch: "Fetch",
  checks: "Checks",
  erase: "Erase",
};

/** Every queue of the stage, in the order of the data's way. @throws CommandError where an output is missing */
export function workQueues(deployment: Outputs): readonly WorkQueue[] {
  const subscribers = subscriberQueues(deployment).map(({ name, queueUrl, deadLetterQueueUrl }) => ({
    name: `subscriber/${name}`,
    queueUrl,
    deadLetterQueueUrl,
  }));
  return [...ownQueues.map((name) => workQueue(deployment, name)), ...subscribers];
}

export function workQueue({ output }: Outputs, name: OwnQueue): WorkQueue {
  const prefix = outputPrefixes[name];
  return {
    name,
    queueUrl: output(`${prefix}QueueUrl`),
    deadLetterQueueUrl: output(`${prefix}DeadLetterQueueUrl`),
  };
}

/** For what AWS knows by the ARN alone, such as event sources. */
export function workQueueArn({ output }: Outputs, name: OwnQueue): string {
  return output(`${outputPrefixes[name]}QueueArn`);
}

/** Who gets what, and where. @throws permanent failure naming the field of the output */
export function subscriberQueues({ output }: Outputs): readonly SubscriberQueue[] {
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

/** @throws CommandError naming those that the stage has */
export function subscriberNamed(deployment: Pick<Deployment, "output">, name: string): SubscriberQueue {
  const all = subscriberQueues(deployment);
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const there = all.length === 0 ? "none" : all.map((each) => each.name).join(", ");
  throw CommandError.usage(`There is no subscriber ${name}; there is: ${there}.`);
}
