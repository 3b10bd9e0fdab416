import type { ServiceClock } from "../../adapters/aws/service-clock.ts";
import type { ReadinessRecords } from "../../adapters/dynamodb/readiness.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import {
  type AccountReadiness,
  afterDocument,
  afterState,
  beginConnection,
  beginsConnection,
} from "../../domain/readiness/account-readiness.ts";
import type { ReadinessSettings } from "../../domain/readiness/readiness-settings.ts";

export type ReadinessDependencies = {
  readonly records: ReadinessRecords;
  readonly settings: ReadinessSettings;
  readonly clock: ServiceClock;
};

type Follow = Extract<Consequence, { type: "followReadiness" }>;

/** The deadline function writes too; the loser of a conflict reads again. */
const maxAttempts = 8;

/**
 * Updates an account's readiness after a change of its state or documents.
 * @throws retryable failure after too many write conflicts
 */
export async function followReadiness(
  { change }: Follow,
  dependencies: ReadinessDependencies,
): Promise<void> {
  const { records } = dependencies;
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const known = await records.load(change.after.subject);
    const next = await nextOf(known, change, dependencies);
    if (next === undefined || (await records.save(next)) === "written") return;
  }
  throw retryable("readiness contended", 1);
}

async function nextOf(
  known: AccountReadiness | undefined,
  change: Follow["change"],
  { records, settings, clock }: ReadinessDependencies,
): Promise<AccountReadiness | undefined> {
  if (change.type === "document") return known && afterDocument(known, change.after, clock());
  const { after: state } = change;
  if (!beginsConnection(known, state)) return known && afterState(known, state);
  const documents = await records.documents(state.subject, settings.endpoints);
  return beginConnection(known, state, documents, { settings, now: clock() });
}
