import { createHash } from "node:crypto";

/** A body that the API accepted: it must be found again, as an event or as a dead letter. */
export type Accepted = { readonly kind: string; readonly body: Buffer };

/**
 * An event's identity as the pipeline promises it: SHA-256 of the kind, a line end and the raw body, base64url.
 * Written here a second time on purpose: a checker that shared the pipeline's code would share its mistakes.
 */
export function identityOf({ kind, body }: Accepted): string {
  return createHash("sha256").update(`${kind}\n`).update(body).digest("base64url");
}

/** What must be there in the end. */
export type Expectation = {
  /** Ids of events that must be stored, and published to each subscriber whose filter lets them through. */
  readonly events: ReadonlySet<string>;
  /** Ids of what must have ended in dead-letter queues, because it can't be understood. */
  readonly deadLetters: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
  /** Accounts and company accounts by id, and whether they are connected at the provider. */
  readonly accounts: ReadonlyMap<string, { readonly connected: boolean }>;
  readonly companyAccounts: ReadonlyMap<string, { readonly connected: boolean }>;
  /** By `<account id>/<endpoint>`: the data that the provider has. */
  readonly data: ReadonlyMap<string, unknown>;
};
