import type { Exchange } from "@income-events/local-stack/api/http-api.ts";
import { identityOf } from "./expectation.ts";

/** What the API answered, seen where it was answered. */
export type Traffic = {
  readonly observe: (exchange: Exchange) => void;
  /** Statuses of every request to a webhook. */
  readonly requests: () => readonly { readonly status: number }[];
  /** Ids of the bodies that were answered 2xx: each must be found again. */
  readonly accepted: () => ReadonlySet<string>;
  /** Those of them whose body names one of these ids of the provider. */
  readonly naming: (ids: readonly string[]) => ReadonlySet<string>;
};

const webhookPath = /^\/webhooks\/([a-z-]+)$/;

export function recordTraffic(): Traffic {
  const requests: { status: number }[] = [];
  const accepted = new Map<string, Buffer>();
  return {
    observe: ({ path, body, status }) => {
      const kind = webhookPath.exec(path)?.[1];
      if (kind === undefined) return;
      requests.push({ status });
      if (status >= 200 && status < 300) accepted.set(identityOf({ kind, body }), body);
    },
    requests: () => requests,
    accepted: () => new Set(accepted.keys()),
    naming: (ids) =>
      new Set([...accepted].flatMap(([id, body]) => (ids.some((each) => body.includes(each)) ? [id] : []))),
  };
}
