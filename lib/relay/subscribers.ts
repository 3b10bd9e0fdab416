import { Duration, Fn, Tags } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { subscriberTag } from "../../domain/message/message.ts";
import { pipelineName } from "../instance.ts";
import { pascalCase } from "../names.ts";
import { Alarm } from "../observability/alarm.ts";
import { subscriberLag } from "../observability/alarm-limits.ts";
import { deadLetters, oldestMessage } from "../observability/alarm-metrics.ts";
import { WorkQueue } from "../receiving/work-queue.ts";
import { inWords, wholeSeconds } from "../settings/durations.ts";
import { admissionsOf } from "../settings/principals.ts";
import type { Settings } from "../settings/settings.ts";

type SubscriberSettings = Settings["subscribers"][number];

/** Actions of a reader in another account: a program or the event source of a Lambda function. */
const readQueue = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
  "sqs:GetQueueUrl",
];

/** One queue, with its DLQ, for each subscriber. */
export class Subscribers extends Construct {
  readonly queues = new Map<string, WorkQueue>();
  /** Subscribers of the settings, then those that were added. */
  readonly settings: SubscriberSettings[] = [];
  /** ARNs of roles and users that a grant lets read a subscriber's documents; some are known only at deploy time. */
  readonly readers = new Map<string, string[]>();
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
   * Environment of functions that send to subscribers: `queue/dead-letter queue` for each, in the order of the
   * settings. It contains names, because the URLs would not fit into the environment of a function.
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
    for (const each of [work.queue, work.deadLetterQueue])
      Tags.of(each).add(subscriberTag, pipelineName(this));
    new SubscriberAlarms(work, "Alarms", { name, work, settings });
    for (const { accounts, arns } of admissionsOf(principals)) {
      work.queue.addToResourcePolicy(
        new iam.PolicyStatement({
          principals: accounts.map((account) => new iam.AccountPrincipal(account)),
          actions: readQueue,
          resources: [work.queue.queueArn],
          ...(arns && { conditions: { ArnEquals: { "aws:PrincipalArn": arns } } }),
        }),
      );
    }
    return work;
  }
}

type SubscriberAlarmsProps = {
  /** Name of the subscriber in the settings. */
  readonly name: string;
  readonly work: WorkQueue;
  readonly settings: Settings;
};

/** Alerts the operator when a subscriber misses messages, or soon will. */
class SubscriberAlarms extends Construct {
  constructor(scope: Construct, id: string, { name, work, settings }: SubscriberAlarmsProps) {
    super(scope, id);
    const { retention } = work;
    const limit = subscriberLag(settings.alarms.subscriberBehindMinutes, retention);
    const period = Duration.minutes(5);
    new Alarm(this, "Behind", {
      entry: "subscriber-behind",
      metric: oldestMessage(work),
      impact:
        `${name} reads its queue ${inWords(limit)} late or not at all. SQS deletes a message after ` +
        `${inWords(retention)}, and ${name} never gets it.`,
      remedy: "Check whether it reads: npx income-events status --section subscribers",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "subscriber-dead-letters",
      metric: deadLetters(work),
      impact: `${name} misses messages: its reader failed five times on each. They are dead letters.`,
      remedy: `Show them: npx income-events dlq show subscriber/${name}`,
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
