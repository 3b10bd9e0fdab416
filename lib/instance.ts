import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";

/** CDK omits this id from logical ids, so constructs below it have the ids that they would have in the stack itself. */
export const leftOutOfIds = "Default";

const ownStacks = new WeakSet<Stack>();

/** Marks a stack as one of ours, which contains only a pipeline. */
export function claimStack(stack: Stack): void {
  ownStacks.add(stack);
}

/** Whether a construct's stack is ours, so that we may change the protection of the stack itself. */
export function isInOwnStack(scope: Construct): boolean {
  return ownStacks.has(Stack.of(scope));
}

const instanceKey = "income-events:instance";

/** Tells the constructs below which pipeline of the stack they belong to. */
export function nameInstance(construct: Construct): void {
  const inStack = construct.node.scopes.slice(construct.node.scopes.indexOf(Stack.of(construct)) + 1);
  const ids = inStack.map(({ node }) => node.id).filter((id) => id !== leftOutOfIds);
  construct.node.setContext(instanceKey, ids.map((id) => id.replace(/[^A-Za-z0-9]/g, "")).join(""));
}

/** Prefix of output and parameter names; empty for a pipeline with a stack of its own. */
export function instanceOf(scope: Construct): string {
  const instance: unknown = scope.node.tryGetContext(instanceKey);
  return typeof instance === "string" ? instance : "";
}

/** Unique name of a pipeline in an account and region: the stack's name, with the construct's ids if any. */
export function pipelineName(scope: Construct): string {
  const instance = instanceOf(scope);
  const { stackName } = Stack.of(scope);
  return instance === "" ? stackName : `${stackName}-${instance}`;
}
