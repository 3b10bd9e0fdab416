import {
  type CloudWatchClient,
  type MetricDataQuery,
  paginateDescribeAlarms,
} from "@aws-sdk/client-cloudwatch";

/** An alarm of the stack; its description says what it means and what to do. */
export type StackAlarm = {
  readonly name: string;
  readonly description: string;
  /** The entry of the runbook that its description names: what it is about, in a stable word. */
  readonly entry: string;
  readonly isOn: boolean;
  /** Whether anybody is notified when it goes off. */
  readonly isTold: boolean;
  /** Since when it is so. */
  readonly since: Date | undefined;
  /** The time that it looks back over: so long after its cause has ended it is off. */
  readonly lookBackSeconds: number;
};

/**
 * The alarms of a stack, by the names that CloudFormation makes: `<stack>-<logical id>-<random>`, the latter two of
 * letters and digits only. So those of a stack whose name begins with this one's are distinguished.
 * @param prefix `<stack>-`, and what the logical ids begin with
 * Source: CloudFormation user guide, "Resource attribute reference", physical ids.
 */
export async function stackAlarms(client: CloudWatchClient, prefix: string): Promise<readonly StackAlarm[]> {
  const alarms: StackAlarm[] = [];
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, { AlarmNamePrefix: prefix })) {
    for (const {
      AlarmName = "",
      AlarmDescription = "",
      AlarmActions = [],
      StateValue,
      StateTransitionedTimestamp,
      Period,
      EvaluationPeriods = 1,
      Metrics = [],
    } of MetricAlarms) {
      if (!/^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/.test(AlarmName.slice(prefix.length))) continue;
      const isOn = StateValue === "ALARM";
      alarms.push({
        name: AlarmName,
        description: AlarmDescription,
        entry: entryOf(AlarmDescription) ?? AlarmName,
        isOn,
        isTold: AlarmActions.length > 0,
        since: StateTransitionedTimestamp,
        lookBackSeconds: EvaluationPeriods * (Period ?? longestPeriod(Metrics)),
      });
    }
  }
  return alarms;
}

function entryOf(description: string): string | undefined {
  return /runbook\.md#([a-z-]+)/.exec(description)?.[1];
}

/** Of an alarm on an expression. */
function longestPeriod(metrics: readonly MetricDataQuery[]): number {
  return Math.max(60, ...metrics.map(({ MetricStat }) => MetricStat?.Period ?? 0));
}
