import { contentOf } from "../../adapters/content-store.ts";
import { fetched } from "../../domain/data-set.ts";
import { parseJson } from "../../domain/parse.ts";
import { readPath } from "../../domain/provider-settings.ts";
import type { TaskOf } from "../../domain/tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/**
 * Reads an endpoint's data and stores it.
 * @returns whether the provider was called; false where the task was overtaken
 */
export async function read(task: TaskOf<"read">, dependencies: FetcherDependencies): Promise<boolean> {
  const { subject } = task;
  const { call, revisions, storeContent, provider, now } = dependencies;
  const known = await revisions.loadDataSet(subject, task);
  if (known === undefined || task.wanted <= known.done) return false;
  const { wanted } = known;
  const answer = await call({ method: "GET", path: readPath(provider, subject, task) });
  const content = answer.found ? contentOf(jsonOf(answer.text)) : undefined;
  // The data first, what is known of it after: a crash between the two fetches again, and forgets nothing. Stored
  // even where the digest is known already: a slower fetch may have put older data there since it was noted.
  await storeContent(subject, task, wanted, content);
  await revisions.dataSet(subject, task, (current) =>
    current === undefined ? undefined : fetched(current, wanted, content?.digest, now()),
  );
  return true;
}

function jsonOf(text: string): string {
  parseJson(text, "the provider's answer");
  return text;
}
