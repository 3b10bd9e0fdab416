import { type CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";

/**
 * Whether CloudFormation is rolling back the creation of a stack. The rollback of an update, and a removal,
 * have other statuses. Source: CloudFormation user guide, "Stack status codes".
 */
export async function isCreationRolledBack(client: CloudFormationClient, stackId: string): Promise<boolean> {
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackId }));
  return stack?.StackStatus === "ROLLBACK_IN_PROGRESS";
}
