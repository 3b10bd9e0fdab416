import type { Answer } from "../http-server.ts";
import { errorAnswer, jsonAnswer } from "./answer.ts";
import { parseJsonObject } from "./operation.ts";

/** An event source mapping as Lambda announces it. */
export type EventSourceMapping = {
  readonly id: string;
  readonly eventSourceArn: string;
  readonly functionArn: string;
  readonly enabled: boolean;
  /** Absent where this machine can't change it. */
  readonly setEnabled?: (enabled: boolean) => void;
};

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
    EventSourceMappings: wanted.map((mapping) =>
      configurationOf(mapping, mapping.enabled ? "Enabled" : "Disabled"),
    ),
  });
}

/** Enables or disables a stream's mapping. Source: Lambda API reference, "UpdateEventSourceMapping". */
export function updateMappingAnswer(
  id: string,
  body: Buffer,
  mappings: readonly EventSourceMapping[],
): Answer {
  const mapping = mappings.find((each) => each.id === id);
  if (mapping === undefined) {
    return refusal(404, "ResourceNotFoundException", `The resource you requested does not exist: ${id}`);
  }
  const { Enabled, UUID: _, ...others } = parseJsonObject(body.toString());
  const { setEnabled } = mapping;
  if (typeof Enabled !== "boolean" || Object.keys(others).length > 0 || setEnabled === undefined) {
    const message =
      "The local gateway only enables and disables event source mappings, of streams that are read";
    return refusal(400, "InvalidParameterValueException", message);
  }
  setEnabled(Enabled);
  return jsonAnswer(202, configurationOf(mapping, Enabled ? "Enabling" : "Disabling"));
}

function configurationOf({ id, eventSourceArn, functionArn }: EventSourceMapping, State: string): object {
  return { UUID: id, EventSourceArn: eventSourceArn, FunctionArn: functionArn, State };
}

export function refusal(status: number, errorType: string, message: string): Answer {
  return errorAnswer("lambda", { status, errorType, message });
}
