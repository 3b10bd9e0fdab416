import { Duration, Fn } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { pascalCase } from "../names.ts";
import { WorkQueue } from "../receiving/work-queue.ts";
import { wholeSeconds } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";
import { SubscriberAlarms } from "./subscriber-alarms.ts";

type SubscriberSettings = Settings["subscribers"][number];

/** What a reader in another account needs, be it a program or the event source of a Lambda function. */
const readQueue = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
  "sqs:GetQueueUrl",
];

/** One queue, with its DLQ, for each subscriber of the settings. */
export class Subscribers extends Construct {
  readonly queues = new Map<string, WorkQueue>();
  /** Those of the settings and those that were added, in this order. */
  readonly settings: SubscriberSettings[] = [];
  readonly #stage: Settings;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.#stage = settings;
    for (const subscriber of settings.subscribers) this.add(subscriber);
  }

  add(subscriber: SubscriberSettings): void {
    this.queues.set(subscriber.name, this.#addQueue(subscriber, this.#stage));
    this.settings.push(subscriber);
  }

  /**
   * For functions that send to subscribers, in the order of the settings: `queue/dead-letter queue`. By name, for all their
   * URLs would not fit into the environment of a function.
   */
  get environment(): Readonly<Record<string, string>> {
    if (this.queues.size === 0) return {};
    const names = [...this.queues.values()].map(({ queue, deadLetterQueue }) =>
      Fn.join("/", [queue.queueName, deadLetterQueue.queueName]),
    );
    return { SUBSCRIBER_QUEUES: Fn.join(",", names) };
  }

  #addQueue(
    { name, principals, retentionDays, visibilityTimeoutSeconds }: SubscriberSettings,
    settings: Settings,
  ): WorkQueue {
    const work = new WorkQueue(this, pascalCase(name), {
      settings,
      visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
      retention: wholeSeconds(Duration.days(retentionDays)),
    });
    new SubscriberAlarms(work, "Alarms", name, work);
    if (principals.length === 0) return work;
    work.queue.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: principals.map(principalOf),
        actions: readQueue,
        resources: [work.queue.queueArn],
      }),
    );
    return work;
  }
}

function principalOf(principal: string): iam.IPrincipal {
  return principal.startsWith("arn:") ? new iam.ArnPrincipal(principal) : new iam.AccountPrincipal(principal);
}
