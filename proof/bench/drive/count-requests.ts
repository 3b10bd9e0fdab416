import { asObject, asString, parseJsonObject } from "@income-events/local-stack/gateway/operation.ts";
import type { Gateway } from "@income-events/local-stack/gateway/types.ts";
import { billedRequests } from "../measure/billed-requests.ts";

/** Counts what functions ask of SQS from now on, as it bills them. Who stands outside is not counted. */
export function countRequests(gateway: Gateway): () => number {
  let count = 0;
  gateway.intercept(async ({ service, isFromFunction, body }, phase) => {
    const isCounted = service === "sqs" && isFromFunction && phase === "before";
    if (isCounted) count += billedRequests(bodiesOf(body.toString()));
    return undefined;
  });
  return () => count;
}

function bodiesOf(request: string): readonly string[] {
  const { MessageBody, Entries } = parseJsonObject(request);
  const entries: readonly unknown[] = Array.isArray(Entries) ? Entries : [{ MessageBody }];
  return entries.map((entry) => asString(asObject(entry).MessageBody));
}
