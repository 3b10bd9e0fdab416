import { expression } from "./mapping-schema.ts";
import { place } from "./provider-schema.ts";
import { scalableDuration, section, wholeNumber } from "./setting-types.ts";

/** How the table is compared with the provider's lists; see `domain/state/listing.ts`. */
export const reconcileSchema = section({
  /** Interval between the starts of two runs. */
  everyHours: scalableDuration(1, 168).default(24),
  /** Interval at which an unfinished run continues. */
  tickMinutes: scalableDuration(1, 60).default(5),
  /** Records created more recently are skipped, because their webhook may still come. */
  graceMinutes: scalableDuration(0, 1_440).default(15),
  /** Older data is read again. */
  rereadAfterDays: scalableDuration(1, 3_650).default(30),
  /** A run that finds more deletions within seven days waits for an operator. */
  maxDeletions: section({
    /** Percentage of the accounts that the last complete run listed. */
    percent: wholeNumber(0, 100).default(5),
    atLeast: wholeNumber(0, 1_000_000).default(20),
  }).prefault({}),
  /** Time from the discovery of a deletion to the call that confirms it. */
  askAgainAfterHours: scalableDuration(1, 24).default(6),
  /** Runs that start because webhooks may have been lost; see `domain/reconcile/missed.ts`. */
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
    /** If set, accounts that have not changed since webhooks were lost are not read again. */
    updatedAt: expression.exactOptional(),
  }).prefault({}),
}).prefault({});
