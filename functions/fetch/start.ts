import { wantFor } from "../../domain/data-set.ts";
import { fillBody, fillPath } from "../../domain/provider-settings.ts";
import type { TaskOf } from "../../domain/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/**
 * Starts a data fetch for an account that became connected; where the settings know no way to, its endpoints are
 * read straight away.
 * @returns whether the provider was called
 */
export async function start(task: TaskOf<"start">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject, version } = task;
  const { call, provider, startEndpoints, revisions } = dependencies;
  const fetchStart = provider.paths.start;
  if (fetchStart === undefined || subject.kind !== "account") {
    const mark = `start.${version}`;
    for (const endpoint of startEndpoints) {
      await revisions.dataSet(subject, { endpoint }, (known) => wantFor(known, subject, { endpoint }, mark));
    }
    return false;
  }
  // An account that the provider does not know has no data to fetch: 404 and 410 end the task.
  const body = fetchStart.body === undefined ? undefined : fillBody(fetchStart.body, subject, startEndpoints);
  await call({ method: fetchStart.method, path: fillPath(fetchStart.path, subject), body });
  return true;
}
