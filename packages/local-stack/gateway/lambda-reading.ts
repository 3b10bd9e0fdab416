import type { Answer } from "../http-server.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";

/** Source: Lambda API reference, "GetFunctionConfiguration". */
export function configurationAnswer(arn: string, target: HostedFunction | undefined): Answer {
  if (target === undefined) {
    const message = `Function not found: ${arn}`;
    return errorAnswer("lambda", { status: 404, errorType: "ResourceNotFoundException", message });
  }
  const { name, timeoutSeconds, memoryMb } = target.plan;
  return jsonAnswer(200, {
    FunctionName: name,
    FunctionArn: arn,
    Timeout: timeoutSeconds,
    MemorySize: memoryMb,
    State: "Active",
    LastUpdateStatus: "Successful",
  });
}
