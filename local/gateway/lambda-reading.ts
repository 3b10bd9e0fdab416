import type { HostedFunction } from "../lambda/hosted-function.ts";
import { type Answer, errorAnswer, jsonAnswer } from "./answer.ts";

/** An event source mapping as Lambda tells of it. */
export type EventSourceMapping = {
  readonly id: string;
  readonly eventSourceArn: string;
  readonly functionArn: string;
  readonly enabled: boolean;
};

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

/** All on one page, filtered as asked. Source: Lambda API reference, "ListEventSourceMappings". */
export function mappingsAnswer(target: string, mappings: readonly EventSourceMapping[]): Answer {
  const query = new URLSearchParams(target.split("?")[1]);
  const source = query.get("EventSourceArn");
  const name = query.get("FunctionName");
  const wanted = mappings.filter(
    ({ eventSourceArn, functionArn }) =>
      (source === null || eventSourceArn === source) &&
      (name === null || functionArn === name || functionArn.endsWith(`:function:${name}`)),
  );
  return jsonAnswer(200, {
    EventSourceMappings: wanted.map(({ id, eventSourceArn, functionArn, enabled }) => ({
      UUID: id,
      EventSourceArn: eventSourceArn,
      FunctionArn: functionArn,
      State: enabled ? "Enabled" : "Disabled",
    })),
  });
}
