import { CfnOutput, type CfnOutputProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { instanceOf } from "./instance.ts";

/** Adds an output that programs rely on. Its name has the pipeline's prefix, because a stack can contain several. */
export function addOutput(scope: Construct, name: string, props: CfnOutputProps): void {
  new CfnOutput(scope, name, props).overrideLogicalId(`${instanceOf(scope)}${name}`);
}
