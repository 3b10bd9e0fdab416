import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { type SubscriberQueue, subscriberQueues } from "../status/work-queues.ts";

/** @throws CommandError naming those that the stage has */
export function subscriberNamed(deployment: Pick<Deployment, "output">, name: string): SubscriberQueue {
  const all = subscriberQueues(deployment);
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const there = all.length === 0 ? "none" : all.map((each) => each.name).join(", ");
  throw new CommandError("usage", `There is no subscriber ${name}; there is: ${there}.`);
}
