import type { Exchange } from "../api/http-api.ts";
import { identityOf } from "./expectation.ts";

/** What the API answered, seen where it was answered. */
export type Traffic = {
  readonly observe: (exchange: Exchange) => void;
  /** Statuses of every request to a webhook. */
  readonly requests: () => readonly { readonly status: number }[];
  /** Ids of the bodies that were answered 2xx: each must be found again. */
  readonly accepted: () => ReadonlySet<string>;
};

const webhookPath = /^\/webhooks\/([a-z-]+)$/;

export function recordTraffic(): Traffic {
  const requests: { status: number }[] = [];
  const accepted = new Set<string>();
  return {
    observe: ({ path, body, status }) => {
      const kind = webhookPath.exec(path)?.[1];
      if (kind === undefined) return;
      requests.push({ status });
      if (status >= 200 && status < 300) accepted.add(identityOf({ kind, body }));
    },
    requests: () => requests,
    accepted: () => accepted,
  };
}
