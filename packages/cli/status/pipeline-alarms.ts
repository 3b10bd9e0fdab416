import { type StackAlarm, stackAlarms } from "../../../adapters/aws/stack-alarms.ts";
import type { Operation } from "../core/command.ts";

/** The alarms of a pipeline, without those of another one in its stack. */
export async function pipelineAlarms({
  deployment,
  clients,
}: Pick<Operation, "deployment" | "clients">): Promise<readonly StackAlarm[]> {
  const { stack, resourcePrefix, resources } = deployment;
  const alarms = await stackAlarms(clients.cloudWatch, resourcePrefix);
  return alarms.filter(({ name }) => resources.test(name.slice(stack.length + 1)));
}
