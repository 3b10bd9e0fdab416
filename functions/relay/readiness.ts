import type { ServiceClock } from "../../adapters/aws/service-clock.ts";
import type { ReadinessRecords } from "../../adapters/dynamodb/readiness.ts";
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

/** Updates an account's readiness after a change of its state or documents. */
export function followReadiness({ change }: Follow, dependencies: ReadinessDependencies): Promise<void> {
  return dependencies.records.update(change.after.subject, (known) => nextOf(known, change, dependencies));
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
