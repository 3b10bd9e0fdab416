import { userRules } from "../../domain/readiness/readiness-settings.ts";
import {
  choice,
  endpoint,
  listOf,
  remedyOf,
  scalableDuration,
  section,
  wholeNumber,
} from "./setting-types.ts";

/** When subscribers learn that an account has enough data to decide; see `domain/readiness/`. */
export const readinessSchema = section({
  endpoints: listOf(endpoint)
    .min(1, { error: remedyOf("name at least one endpoint") })
    .max(10, { error: remedyOf("name at most ten endpoints") })
    .refine((names) => new Set(names).size === names.length, {
      error: remedyOf("name each endpoint once"),
    }),
  deadlineHours: scalableDuration(1, 240, ": SQS keeps a waiting message for 14 days").default(24),
  minDays: wholeNumber(1, 3_650).exactOptional(),
  staleDays: scalableDuration(1, 3_650).exactOptional(),
  users: choice(userRules).default("all"),
}).exactOptional();
