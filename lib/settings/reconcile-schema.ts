import { expression } from "./mapping-schema.ts";
import { place } from "./provider-schema.ts";
import { scalableDuration, section } from "./setting-types.ts";

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
  }).prefault({}),
}).prefault({});
