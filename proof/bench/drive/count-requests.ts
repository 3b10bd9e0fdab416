import { asObject, asString, parseJsonObject } from "@income-events/local-stack/gateway/operation.ts";
import type { Gateway } from "@income-events/local-stack/gateway/types.ts";
import { billedRequests } from "../measure/billed-requests.ts";

/** Requests as SQS bills them; those to FIFO queues, which cost more, are of `all` too. */
export type QueueRequests = { readonly all: number; readonly fifo: number };

export function isFifo(queueUrl: string): boolean {
  return queueUrl.endsWith(".fifo");
}

/** Counts what functions ask of SQS from now on, as it bills them. Who stands outside is not counted. */
export function countRequests(gateway: Gateway): () => QueueRequests {
  let count: QueueRequests = { all: 0, fifo: 0 };
  gateway.intercept(async ({ service, isFromFunction, body }, phase) => {
    const isCounted = service === "sqs" && isFromFunction && phase === "before";
    if (isCounted) {
      const request = parseJsonObject(body.toString());
      const requests = billedRequests(bodiesOf(request));
      const isOfFifo = isFifo(asString(request.QueueUrl));
      count = { all: count.all + requests, fifo: count.fifo + (isOfFifo ? requests : 0) };
    }
    return undefined;
  });
  return () => count;
}

function bodiesOf({ MessageBody, Entries }: ReturnType<typeof parseJsonObject>): readonly string[] {
  const entries: readonly unknown[] = Array.isArray(Entries) ? Entries : [{ MessageBody }];
  return entries.map((entry) => asString(asObject(entry).MessageBody));
}
