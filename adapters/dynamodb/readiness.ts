import { isFields } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { Document } from "../../domain/fetch/document.ts";
import type { AccountReadiness, FailureReason, Failures } from "../../domain/readiness/account-readiness.ts";
import { parseAccountReadiness } from "../../domain/readiness/stored-readiness.ts";
import type { ReadKey } from "./batching-reader.ts";
import type { WriteItem } from "./batching-writer.ts";
import { readDocument } from "./documents.ts";
import { itemVersion } from "./items.ts";
import { documentKey, readinessKey } from "./keys.ts";

/** Stores how ready each account is, in an item of its own. All reads are consistent. */
export type ReadinessRecords = {
  readonly load: (account: Subject) => Promise<AccountReadiness | undefined>;
  readonly documents: (account: Subject, endpoints: readonly string[]) => Promise<readonly Document[]>;
  /** Why endpoints could not be read since the connection began. */
  readonly failures: (account: Subject, known: AccountReadiness) => Promise<Failures>;
  /** Marks an endpoint that can't be read. Does nothing if the account has no readiness item. */
  readonly markFailure: (account: Subject, endpoint: string, mark: FailureMark) => Promise<void>;
  /** Writes a version if the stored one is the version before it. */
  readonly save: (next: AccountReadiness) => Promise<"written" | "conflict">;
};

/** Stored beside the versioned attribute. `at`: milliseconds since 1970. */
export type FailureMark = { readonly reason: FailureReason; readonly at: number };

const markOf = (endpoint: string) => `failure-${endpoint}`;

export function readinessRecords(read: ReadKey, write: WriteItem): ReadinessRecords {
  return {
    load: async (account) => {
      const item = await read(readinessKey(account));
      return item && parseAccountReadiness(item.readiness);
    },
    documents: async (account, endpoints) => {
      const items = await Promise.all(endpoints.map((endpoint) => read(documentKey(account, { endpoint }))));
      return items.flatMap((item) => (item === undefined ? [] : [readDocument(item).document]));
    },
    failures: async (account, { endpoints, since }) => {
      const item = await read(readinessKey(account));
      const marks = endpoints.map((endpoint) => [endpoint, reasonIn(item?.[markOf(endpoint)], since)]);
      return Object.fromEntries(marks);
    },
    markFailure: async (account, endpoint, mark) => {
      const key = readinessKey(account);
      await write({ type: "update", key, attribute: markOf(endpoint), value: mark, where: [] });
    },
    save: (next) => {
      const key = readinessKey(next.subject);
      if (next.version === 1)
        return write({ type: "insert", key, attributes: { schemaVersion: itemVersion, readiness: next } });
      const isStill = { path: ["readiness", "version"], operator: "=", value: next.version - 1 } as const;
      return write({ type: "update", key, attribute: "readiness", value: next, where: [isStill] });
    },
  };
}

function reasonIn(mark: unknown, since: number): FailureReason | undefined {
  if (!isFields(mark) || typeof mark.at !== "number" || mark.at < since) return undefined;
  return mark.reason === "deadLetter" ? "deadLetter" : "failing";
}
