import { contentOf } from "../../adapters/content-store.ts";
import type { Revisions } from "../../adapters/revisions.ts";
import { fetched } from "../../domain/data-set.ts";
import { parseJson } from "../../domain/parse.ts";
import { type ProviderSettings, readPath } from "../../domain/provider-settings.ts";
import type { TaskOf } from "../../domain/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/** What a read needs of the fetcher. */
export type ReadDependencies = Pick<
  FetcherDependencies,
  "gate" | "claimData" | "storeContent" | "call" | "now"
> & {
  readonly revisions: Pick<Revisions, "loadDataSet" | "dataSet">;
  readonly provider: Pick<ProviderSettings, "paths">;
};

/**
 * Reads an endpoint's data and stores it: one call for all that was wanted of it when it was looked at.
 * @returns whether the provider was called; false where the task was overtaken
 * @throws a failure that waits while another task's call covers the same
 */
export async function read(task: TaskOf<"read">, dependencies: ReadDependencies): Promise<boolean> {
  const { subject } = task;
  const { revisions, claimData, gate, now } = dependencies;
  const lookedAt = now();
  const known = await revisions.loadDataSet(subject, task);
  if (known === undefined || task.wanted <= known.done) return false;
  // While the provider is down a task comes back many times: then it costs this read, and no claim.
  await gate();
  const giveBack = await claimData(subject, task, known.wanted, lookedAt);
  try {
    await fetchData(task, known.wanted, dependencies);
  } catch (error) {
    await giveBack();
    throw error;
  }
  return true;
}

/** @param noted what was wanted before the call: what is wanted during it may be news that the answer lacks */
async function fetchData(
  task: TaskOf<"read">,
  noted: number,
  { call, revisions, storeContent, provider, now }: ReadDependencies,
): Promise<void> {
  const { subject } = task;
  const answer = await call({ method: "GET", path: readPath(provider, subject, task) });
  const content = answer.found ? contentOf(jsonOf(answer.text)) : undefined;
  // The data first, what is known of it after: a crash between the two fetches again, and forgets nothing. Stored
  // even where the digest is known already: a slower fetch may have put older data there since it was noted.
  await storeContent(subject, task, noted, content);
  await revisions.dataSet(subject, task, (current) =>
    current === undefined ? undefined : fetched(current, noted, content?.digest, now()),
  );
}

function jsonOf(text: string): string {
  parseJson(text, "the provider's answer");
  return text;
}
