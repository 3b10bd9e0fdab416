import { Stack } from "aws-cdk-lib";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import * as iam from "aws-cdk-lib/aws-iam";
import * as sns from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct, type IConstruct } from "constructs";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "../storage/encryption.ts";
import { Alarm } from "./alarm.ts";

/** Where alarms go. A stage that is not in production may have none: then they are shown by commands only. */
export class AlarmTopic extends Construct {
  readonly topicArn: string | undefined;
  readonly #topic: sns.ITopic | undefined;
  readonly #subscriptions: sns.Subscription[] = [];

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { topicArn, emails } = settings.alarms;
    this.#topic =
      topicArn === undefined
        ? emails && this.#addTopic(emails, settings)
        : sns.Topic.fromTopicArn(this, "Given", topicArn);
    this.topicArn = this.#topic?.topicArn;
  }

  /** Every alarm below a construct notifies the topic when it goes off, and when it is over. */
  addAlarmActions(stack: IConstruct): void {
    if (this.#topic === undefined) return;
    const action = new SnsAction(this.#topic);
    const alarms = stack.node.findAll().filter((each) => each instanceof Alarm);
    for (const { alarm } of alarms) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
    // A new alarm becomes OK within minutes and says so: addresses are asked to confirm once all have been made.
    for (const subscription of this.#subscriptions) subscription.node.addDependency(...alarms);
  }

  #addTopic(emails: readonly string[], settings: Settings): sns.Topic {
    const stack = Stack.of(this);
    const masterKey = dataKeyOf(this, settings);
    const topic = new sns.Topic(this, "Topic", {
      displayName: stack.stackName,
      enforceSSL: true,
      ...(masterKey && { masterKey }),
    });
    const account = { "aws:SourceAccount": stack.account };
    const alarms = `arn:${stack.partition}:cloudwatch:${stack.region}:${stack.account}:alarm:${stack.stackName}-*`;
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: "AlarmsOfThisStack",
        principals: [new iam.ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: { StringEquals: account, ArnLike: { "aws:SourceArn": alarms } },
      }),
    );
    this.#subscriptions.push(...emails.map((email) => topic.addSubscription(new EmailSubscription(email))));
    return topic;
  }
}
