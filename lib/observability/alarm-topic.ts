import { Fn, Stack } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import * as iam from "aws-cdk-lib/aws-iam";
import * as sns from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct, type IConstruct } from "constructs";
import { pipelineName } from "../instance.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "../storage/encryption.ts";
import { Alarm } from "./alarm.ts";

/** Where alarms go. A stage that is not in production may have none: then they are shown by commands only. */
export class AlarmTopic extends Construct {
  readonly topicArn: string | undefined;
  readonly topic: sns.ITopic | undefined;
  readonly #isGiven: boolean;
  readonly #notifiesEnds: boolean;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { topicArn, emails, notifyWhenOver } = settings.alarms;
    this.#isGiven = topicArn !== undefined;
    this.#notifiesEnds = this.#isGiven && notifyWhenOver;
    this.topic =
      topicArn === undefined
        ? emails && this.#addTopic(emails, settings)
        : sns.Topic.fromTopicArn(this, "Given", topicArn);
    this.topicArn = this.topic?.topicArn;
  }

  /**
   * Every alarm below a construct notifies the topic when it goes off. A given topic also gets each alarm's end, by which
   * paging services close the incident. People who get mails get one notice when all are over: a new alarm becomes OK
   * within minutes, and each of them would say so. See docs/adr/0011.
   */
  addAlarmActions(stack: IConstruct): void {
    if (this.topic === undefined) return;
    const action = new SnsAction(this.topic);
    const alarms = stack.node.findAll().filter((each) => each instanceof Alarm);
    for (const { alarm } of alarms) {
      alarm.addAlarmAction(action);
      if (this.#notifiesEnds) alarm.addOkAction(action);
    }
    if (this.#isGiven) return;
    // Not CDK's own construct: it gives the alarm a fixed name.
    new cloudwatch.CfnCompositeAlarm(this, "AnyOn", {
      alarmDescription:
        "OK: all alarms of this stage are over, and it has a token. In alarm: at least one is on, or it has had no token " +
        "since it was deployed. To see which, and what to do: npx income-events doctor",
      alarmRule: Fn.join(" OR ", alarms.map(isOn)),
      okActions: [this.topic.topicArn],
    });
  }

  #addTopic(emails: readonly string[], settings: Settings): sns.Topic {
    const stack = Stack.of(this);
    const masterKey = dataKeyOf(this, settings);
    const topic = new sns.Topic(this, "Topic", {
      displayName: pipelineName(this),
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
    for (const email of emails) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }
}

/** An alarm that waits for its first data is on until it is known to be off: so a stage is not all well at once. */
function isOn({ alarm, staysWithoutData }: Alarm): string {
  return Fn.join("", [staysWithoutData ? 'NOT OK("' : 'ALARM("', alarm.alarmName, '")']);
}
