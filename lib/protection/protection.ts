import { CustomResource, Duration, Stack } from "aws-cdk-lib";
import { Construct, type IConstruct } from "constructs";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { isInOwnStack } from "../instance.ts";
import type { EventTable } from "../storage/event-table.ts";

const size = { memoryMb: 256, timeoutSeconds: 30 };
/** Lambda retries a failed run twice, after one and after two minutes. CloudFormation would wait for an hour. */
const serviceTimeout = Duration.minutes(5);

/**
 * Protects the table from deletion, and lets a production stack be created again after its creation failed. CDK enables
 * termination protection before the stack is created, and DynamoDB's deletion protection would outlast a rollback.
 * Therefore a resource that is deleted last disables the first, and a resource that is created last enables the second.
 * Both are disabled only while a creation is rolled back, the first only if the stack is ours. See docs/adr/0015.
 */
export class Protection extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly defaults: FunctionDefaults; readonly table: EventTable },
  ) {
    super(scope, id);
    const { defaults, table } = props;
    const describeStack = allow(["cloudformation:DescribeStacks"], [Stack.of(this).stackId]);
    const others = scope.node.children.filter((each) => each !== this);
    const protectTable = new PipelineFunction(this, "Table", {
      ...defaults,
      entry: "functions/protect/table.ts",
      description: "Protects the table from being deleted once the stack stands",
      size,
      environment: { TABLE_NAME: table.table.tableName },
      settings: {},
      permissions: [
        describeStack,
        allow(["dynamodb:DescribeTable", "dynamodb:UpdateTable"], [table.table.tableArn]),
      ],
    });
    const last = new CustomResource(protectTable, "Protected", {
      resourceType: "Custom::ProtectedTable",
      serviceToken: protectTable.lambda.functionArn,
      serviceTimeout,
      properties: { TableName: table.table.tableName },
    });
    last.node.addDependency(...others);
    if (!isInOwnStack(this)) return;
    const creation = new PipelineFunction(this, "Creation", {
      ...defaults,
      entry: "functions/protect/creation.ts",
      description: "Lets a stack be removed whose creation failed",
      size,
      environment: {},
      settings: {},
      permissions: [
        describeStack,
        allow(["cloudformation:UpdateTerminationProtection"], [Stack.of(this).stackId]),
      ],
    });
    const first = new CustomResource(creation, "Removable", {
      resourceType: "Custom::RemovableUntilCreated",
      serviceToken: creation.lambda.functionArn,
      serviceTimeout,
    });
    dependOn(first, [...others, protectTable]);
  }
}

/** Names of its functions in log lines. */
export function protectingFunctions(scope: Construct): readonly string[] {
  return ["protect/table", ...(isInOwnStack(scope) ? ["protect/creation"] : [])];
}

function dependOn(first: IConstruct, all: readonly IConstruct[]): void {
  for (const each of all) each.node.addDependency(first);
}
