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

/** Topic that alarms notify. A stage outside production may have none; only commands show its alarms then. */
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
   * Lets every alarm below a construct notify the topic when it is raised. A given topic is also notified when each
   * alarm is over, so that paging services close the incident. Email recipients get one notice when all are over: each
   * new alarm becomes OK within minutes, and would send one. See docs/adr/0011.
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
    // CDK's own construct would give the alarm a fixed name.
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
      // SNS's maximum; the name of a stack can be longer.
      displayName: pipelineName(this).slice(0, 100),
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

/** An alarm without data yet counts as raised, so that a new stage does not report that all is well. */
function isOn({ alarm, staysWithoutData }: Alarm): string {
  return Fn.join("", [staysWithoutData ? 'NOT OK("' : 'ALARM("', alarm.alarmName, '")']);
}
