import { type LambdaClient, paginateListEventSourceMappings } from "@aws-sdk/client-lambda";

/** An event source mapping: passes a queue's messages, or a stream's records, to a function. */
export type EventSource = { readonly id: string; readonly state: string };

/** @param of the queue's ARN, or the function's name */
export async function eventSources(
  client: LambdaClient,
  of: { readonly EventSourceArn: string } | { readonly FunctionName: string },
): Promise<readonly EventSource[]> {
  const sources: EventSource[] = [];
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, of)) {
    sources.push(...EventSourceMappings.map(({ UUID = "", State = "" }) => ({ id: UUID, state: State })));
  }
  return sources;
}
