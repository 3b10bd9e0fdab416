import { type CloudWatchClient, paginateDescribeAlarms } from "@aws-sdk/client-cloudwatch";

/** An alarm of the stack; its description says what it means and what to do. */
export type StackAlarm = {
  readonly name: string;
  readonly description: string;
  readonly isOn: boolean;
  /** Whether anybody is notified when it goes off. */
  readonly isTold: boolean;
  /** Since when it is so. */
  readonly since: Date | undefined;
};

/**
 * The alarms of a stack, by the names that CloudFormation makes: `<stack>-<logical id>-<random>`, the latter two of
 * letters and digits only. So those of a stack whose name begins with this one's are distinguished.
 * Source: CloudFormation user guide, "Resource attribute reference", physical ids.
 */
export async function stackAlarms(client: CloudWatchClient, stack: string): Promise<readonly StackAlarm[]> {
  const prefix = `${stack}-`;
  const alarms: StackAlarm[] = [];
  for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, { AlarmNamePrefix: prefix })) {
    for (const {
      AlarmName = "",
      AlarmDescription = "",
      AlarmActions = [],
      StateValue,
      StateTransitionedTimestamp,
    } of MetricAlarms) {
      if (!/^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/.test(AlarmName.slice(prefix.length))) continue;
      const isOn = StateValue === "ALARM";
      alarms.push({
        name: AlarmName,
        description: AlarmDescription,
        isOn,
        isTold: AlarmActions.length > 0,
        since: StateTransitionedTimestamp,
      });
    }
  }
  return alarms;
}
