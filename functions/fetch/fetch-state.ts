import type { ApiAnswer } from "../../adapters/provider/provider-api.ts";
import { permanent } from "../../domain/core/failures.ts";
import { isFields, optionalBoolean, present } from "../../domain/core/parse.ts";
import { type AttributeExpressions, type Attributes, attributesIn } from "../../domain/event/attributes.ts";
import { parseExact } from "../../domain/event/lossless-json.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { fillPath, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { StateTask } from "../../domain/fetch/task.ts";
import { type Answer, applyProviderAnswer, type State } from "../../domain/state/state.ts";
import type { TaskResult } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/**
 * Fetches a state from the provider, because events about it contradict each other.
 * @returns `skipped` if the state has changed since
 */
export async function fetchState(task: StateTask, dependencies: FetcherDependencies): Promise<TaskResult> {
  const { subject, version, correlationId } = task;
  const { client, versionedRecords, provider, attributes, now } = dependencies;
  const known = await versionedRecords.loadState(subject);
  const path = pathOfState(subject, provider);
  if (known?.version !== version || path === undefined) return "skipped";
  const found = await client.call({ method: "GET", path: fillPath(path, subject) });
  const answer = await answerOf(subject, found, attributes);
  const applied = (state: State | undefined) =>
    applyProviderAnswer(state, version, answer, { at: now(), correlationId });
  await versionedRecords.state(subject, applied, known);
  return "done";
}

function pathOfState(subject: Subject, { paths }: ProviderSettings): string | undefined {
  switch (subject.kind) {
    case "user":
      return paths.user;
    case "account":
      return paths.account;
    case "company-account":
      return paths.companyAccount;
  }
}

/** Reads `connected` at the top level or under `data`. A user may have none: being found is enough. */
async function answerOf(
  subject: Subject,
  answer: ApiAnswer,
  expressions: AttributeExpressions,
): Promise<Answer> {
  if (!answer.found) return { found: false };
  const body = parseExact(answer.text, "the provider's answer");
  if (!isFields(body)) throw permanent("the provider's answer: expected an object");
  const connected = optionalBoolean(isFields(body.data) ? { ...body.data, ...body } : body, "connected");
  if (subject.kind === "user") {
    const attributes = await attributesOf(subject, body, expressions);
    return { found: true, ...present({ connected, attributes }) };
  }
  if (connected !== undefined) return { found: true, connected };
  throw permanent("the provider's answer: no connected; see provider.paths.account and companyAccount");
}

async function attributesOf(
  { id }: Subject,
  body: unknown,
  expressions: AttributeExpressions,
): Promise<Attributes | undefined> {
  if (Object.keys(expressions).length === 0) return undefined;
  const { jmespathSearch } = await import("#lazy/jmespath");
  return attributesIn(expressions, body, id, jmespathSearch).attributes;
}
