import { expression } from "./mapping-schema.ts";
import { place } from "./provider-schema.ts";
import { scalableDuration, section, wholeNumber } from "./setting-types.ts";

/** How the table is compared with the provider's lists; see `domain/state/listing.ts`. */
export const reconcileSchema = section({
  /** From the beginning of one run to that of the next. */
  everyHours: scalableDuration(1, 168).default(24),
  /** How often a run that has not come to its end goes on. */
  tickMinutes: scalableDuration(1, 60).default(5),
  /** What was created so lately is left to its webhook. */
  graceMinutes: scalableDuration(0, 1_440).default(15),
  /** Data that was fetched so long ago is read again. */
  rereadAfterDays: scalableDuration(1, 3_650).default(30),
  /** A run that finds more deletions within seven days waits for an operator. */
  maxDeletions: section({
    /** Of the accounts that the last complete run listed. */
    percent: wholeNumber(0, 100).default(5),
    atLeast: wholeNumber(0, 1_000_000).default(20),
  }).prefault({}),
  /** From when a deletion was found until the provider is asked again. */
  askAgainAfterHours: scalableDuration(1, 24).default(6),
  /** Runs that begin because webhooks may have been lost; see `domain/reconcile/missed.ts`. */
  missed: section({
    atMostEveryMinutes: scalableDuration(5, 1_440).default(15),
    gapMinutes: scalableDuration(10, 1_440).default(10),
  }).prefault({}),
  users: section({
    items: place.exactOptional(),
    id: expression.default("id || user_id"),
    createdAt: expression.default("created_at"),
  }).prefault({}),
  accounts: section({
    items: place.exactOptional(),
    id: expression.default("id || account_id"),
    connected: expression.default("connected"),
    datasourceId: expression.default("datasource_id"),
    createdAt: expression.default("created_at"),
    /** Set: an account that was not updated since is not read again where webhooks may have been lost. */
    updatedAt: expression.exactOptional(),
  }).prefault({}),
}).prefault({});
