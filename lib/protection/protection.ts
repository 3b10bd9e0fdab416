import { CustomResource, Duration, Stack } from "aws-cdk-lib";
import { Construct, type IConstruct } from "constructs";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import type { EventTable } from "../storage/event-table.ts";

const size = { memoryMb: 256, timeoutSeconds: 30 };
/** Lambda tries a failed run twice more, after one minute and after two; CloudFormation would wait for an hour. */
const serviceTimeout = Duration.minutes(5);

/**
 * Lets a production stack that failed to be created be created again. CDK switches on termination protection before the
 * stack is made, and DynamoDB's deletion protection would outlast a creation that is rolled back: so the first is
 * switched off by a resource that is removed last, and the second switched on by one that is created last. See docs/adr/0015.
 */
export class Protection extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly defaults: FunctionDefaults; readonly table: EventTable },
  ) {
    super(scope, id);
    const { defaults, table } = props;
    const stack = Stack.of(this);
    const creation = new PipelineFunction(this, "Creation", {
      ...defaults,
      entry: "functions/protect/creation.ts",
      description: "Lets a stack be removed whose creation failed",
      size,
      environment: {},
      settings: {},
      permissions: [allow(["cloudformation:UpdateTerminationProtection"], [stack.stackId])],
    });
    const protectTable = new PipelineFunction(this, "Table", {
      ...defaults,
      entry: "functions/protect/table.ts",
      description: "Protects the table from being deleted once the stack stands",
      size,
      environment: { TABLE_NAME: table.table.tableName },
      settings: {},
      permissions: [allow(["dynamodb:DescribeTable", "dynamodb:UpdateTable"], [table.table.tableArn])],
    });
    const first = new CustomResource(creation, "Removable", {
      resourceType: "Custom::RemovableUntilCreated",
      serviceToken: creation.lambda.functionArn,
      serviceTimeout,
    });
    const last = new CustomResource(protectTable, "Protected", {
      resourceType: "Custom::ProtectedTable",
      serviceToken: protectTable.lambda.functionArn,
      serviceTimeout,
      properties: { TableName: table.table.tableName },
    });
    const others = scope.node.children.filter((each) => each !== this);
    dependOn(first, [...others, protectTable]);
    last.node.addDependency(...others);
  }
}

function dependOn(first: IConstruct, all: readonly IConstruct[]): void {
  for (const each of all) each.node.addDependency(first);
}
