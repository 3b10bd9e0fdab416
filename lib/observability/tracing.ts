import type * as iam from "aws-cdk-lib/aws-iam";
import { allow } from "../function/permissions.ts";

/** What Lambda needs, as the function's role, to send its traces to X-Ray. */
export function sendTraces(): iam.PolicyStatement {
  return allow(["xray:PutTelemetryRecords", "xray:PutTraceSegments"], ["*"]);
}
