import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { identify } from "../../domain/event/identify.ts";
import { workload } from "../bench/workload.ts";

export type Delivery = { readonly kind: WebhookKind; readonly body: string };

/** What is sent in one batch, and what must come of it. */
export type Batch = {
  readonly deliveries: readonly Delivery[];
  /** Ids of the distinct events: each is to be stored once and reported. */
  readonly events: ReadonlySet<string>;
  /** `account/<id>/<endpoint>` of all data that an event announces: each is to be fetched and reported. */
  readonly data: ReadonlySet<string>;
};

const duplicates = 0.1;

/** The same number gives the same batch. Of its deliveries a tenth brings an event that was delivered before. */
export function batchOf(number: number, events: number): Batch {
  const deliveries = workload({ seed: number + 1, events, duplicates });
  return {
    deliveries,
    events: new Set(deliveries.map(({ kind, body }) => identify(kind, Buffer.from(body)))),
    data: new Set(
      deliveries
        .filter(({ kind }) => kind === "endpoints")
        .map(({ body }) => {
          const fields = fieldsOf(JSON.parse(body), "body");
          return `account/${textOf(fields, "account_id")}/${textOf(fields, "endpoint")}`;
        }),
    ),
  };
}
