import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** CDK leaves it out of logical ids: what stands below it is called as if it stood in the stack itself. */
export const leftOutOfIds = "Default";

const ownStacks = new WeakSet<Stack>();

/** Notes that a stack is one of ours, which holds a pipeline alone. */
export function claimStack(stack: Stack): void {
  ownStacks.add(stack);
}

/** Whether the stack of a construct is ours, so that we may change how the stack itself is protected. */
export function isInOwnStack(scope: Construct): boolean {
  return ownStacks.has(Stack.of(scope));
}

const instanceKey = "income-events:instance";

/** Lets all that is built below a construct know which pipeline of its stack it belongs to. */
export function nameInstance(construct: Construct): void {
  const inStack = construct.node.scopes.slice(construct.node.scopes.indexOf(Stack.of(construct)) + 1);
  const ids = inStack.map(({ node }) => node.id).filter((id) => id !== leftOutOfIds);
  construct.node.setContext(instanceKey, ids.map((id) => id.replace(/[^A-Za-z0-9]/g, "")).join(""));
}

/** What stands before the names of outputs and parameters: nothing for the pipeline that is a stack of its own. */
export function instanceOf(scope: Construct): string {
  const instance: unknown = scope.node.tryGetContext(instanceKey);
  return typeof instance === "string" ? instance : "";
}

/** Tells pipelines of one account and region apart: the stack, and the construct in it where it is not all of the stack. */
export function pipelineName(scope: Construct): string {
  const instance = instanceOf(scope);
  const { stackName } = Stack.of(scope);
  return instance === "" ? stackName : `${stackName}-${instance}`;
}
