import { CfnOutput, type CfnOutputProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { instanceOf } from "./instance.ts";

/** Adds an output whose name programs rely on: it begins with the pipeline's own, where a stack can have several. */
export function addOutput(scope: Construct, name: string, props: CfnOutputProps): void {
  new CfnOutput(scope, name, props).overrideLogicalId(`${instanceOf(scope)}${name}`);
}
