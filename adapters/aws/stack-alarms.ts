import {
  type CloudWatchClient,
  type MetricDataQuery,
  paginateDescribeAlarms,
} from "@aws-sdk/client-cloudwatch";

/** An alarm of the stack; its description says what it means and what to do. */
export type StackAlarm = {
  readonly name: string;
  readonly description: string;
  /** The runbook entry that its description links: a stable name for its topic. */
  readonly entry: string;
  readonly isOn: boolean;
  /** Whether anybody is notified when it goes off. */
  readonly isTold: boolean;
  /** When it entered its current state. */
  readonly since: Date | undefined;
  /** Length of its evaluation window: it turns off this long after its cause has ended. */
  readonly lookBackSeconds: number;
};

/**
 * The alarms of a stack, found by the names that CloudFormation generates: `<stack>-<logical id>-<random>`, the last
 * two with letters and digits only. This excludes stacks whose name starts with this one's.
 * @param prefix `<stack>-`, and the prefix of the logical ids
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

/** The period of an alarm on a metric expression. */
function longestPeriod(metrics: readonly MetricDataQuery[]): number {
  return Math.max(60, ...metrics.map(({ MetricStat }) => MetricStat?.Period ?? 0));
}
