import type { ApiAnswer } from "../../adapters/provider/provider-api.ts";
import { permanent } from "../../domain/core/failures.ts";
import { isFields, optionalBoolean, parseJson } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { fillPath, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { StateTask } from "../../domain/fetch/task.ts";
import { type Answer, applyProviderAnswer, type State } from "../../domain/state/state.ts";
import type { TaskResult } from "./delivered-tasks.ts";
import type { FetcherDependencies } from "./dependencies.ts";

/** Asks the provider for a state that events contradict each other about; `skipped` where the state has moved on. */
export async function fetchState(task: StateTask, dependencies: FetcherDependencies): Promise<TaskResult> {
  const { subject, version, correlationId } = task;
  const { call, versionedRecords, provider, now } = dependencies;
  const known = await versionedRecords.loadState(subject);
  const path = pathOfState(subject, provider);
  if (known?.version !== version || path === undefined) return "skipped";
  const answer = await call({ method: "GET", path: fillPath(path, subject) });
  const applied = (state: State | undefined) =>
    applyProviderAnswer(state, version, answerOf(subject, answer), { at: now(), correlationId });
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

/** The state's `connected` may stand at the top or under `data`. A user has none: that it is found is the answer. */
function answerOf(subject: Subject, answer: ApiAnswer): Answer {
  if (!answer.found) return { found: false };
  const body = parseJson(answer.text, "the provider's answer");
  if (!isFields(body)) throw permanent("the provider's answer: expected an object");
  const connected = optionalBoolean(isFields(body.data) ? { ...body.data, ...body } : body, "connected");
  if (connected !== undefined) return { found: true, connected };
  if (subject.kind === "user") return { found: true };
  throw permanent("the provider's answer: no connected; see provider.paths.account and companyAccount");
}
