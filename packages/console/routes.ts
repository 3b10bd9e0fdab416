import { deadLetterRoutes } from "./api/dead-letters.ts";
import { documentRoutes } from "./api/documents.ts";
import { eventRoutes } from "./api/events.ts";
import { mappingRoutes } from "./api/mapping.ts";
import { overviewRoutes } from "./api/overview.ts";
import { providerRoutes, subscriberRoutes } from "./api/provider.ts";
import { recordRoutes } from "./api/records.ts";
import { sandboxRoutes } from "./api/sandbox.ts";
import { createHistories } from "./history.ts";
import type { Jobs } from "./jobs.ts";
import type { ConsoleContext, Route } from "./route.ts";

/** Every address below `/api/` but the tail's. */
export function consoleRoutes(context: ConsoleContext, jobs: Jobs): readonly Route[] {
  return [
    ...overviewRoutes(context),
    ...eventRoutes(createHistories(context.now), jobs),
    ...deadLetterRoutes(jobs),
    ...recordRoutes(jobs),
    ...documentRoutes,
    ...providerRoutes,
    ...subscriberRoutes(jobs),
    ...mappingRoutes,
    ...sandboxRoutes,
  ];
}
