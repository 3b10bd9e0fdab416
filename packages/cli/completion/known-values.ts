import { readdirSync } from "node:fs";
import type { Command, Option } from "commander";
import { eventStates } from "../../../domain/event/event-progress.ts";
import { eventTypes, webhookKinds } from "../../../domain/event/events.ts";
import { operatorActs } from "../../../domain/recovery/operator-act.ts";
import { type Deployment, outputsPipelines, outputsStages } from "../core/deployment.ts";
import { nameOf } from "../core/pipelines.ts";
import { stagesDirectory } from "../core/places.ts";
import { findRunningSystems } from "../core/running-systems.ts";
import { failureNames } from "../sandbox/failures.ts";
import { subscriberQueues, workQueues } from "../status/work-queues.ts";
import type { ValuesOf } from "./candidates.ts";
import { shells } from "./scripts.ts";

const outputsFlag = "--outputs";

/** What is known here of options and arguments by their names. */
const known: Readonly<Record<string, readonly string[]>> = {
  "--type": eventTypes,
  type: eventTypes,
  "--kind": webhookKinds,
  kind: ["user", "account", "company-account"],
  "--state": eventStates,
  "--act": operatorActs,
  how: failureNames,
  shell: shells,
};

/** Names of events, kinds and states; stages, queues and subscribers of what runs here. */
export function knownValues(runningDirectory: string): ValuesOf {
  return (wanted, command, words) => {
    const name = "long" in wanted ? (wanted.long ?? "") : wanted.name();
    if (name === "--stage") return stageNames(command, words, runningDirectory);
    if (name === "--pipeline") return pipelineNames(words, runningDirectory);
    if (name === "queue") return namesOf(runningDirectory, workQueues);
    const isSubscriber =
      name === "--subscriber" || (name === "name" && command.parent?.name() === "subscribers");
    if (isSubscriber) return namesOf(runningDirectory, subscriberQueues);
    return known[name] ?? [];
  };
}

/** Stages of the outputs' file, those that run on this machine, or those that have settings. */
function stageNames(command: Command, words: readonly string[], runningDirectory: string): readonly string[] {
  if (!command.options.some(isOutputs)) return settingsStages();
  const file = outputsFileIn(words);
  if (file !== undefined) return outputsStages(file);
  return [...new Set(findRunningSystems(runningDirectory).map(({ stage }) => stage))];
}

function pipelineNames(words: readonly string[], runningDirectory: string): readonly string[] {
  const file = outputsFileIn(words);
  return file === undefined ? findRunningSystems(runningDirectory).map(nameOf) : outputsPipelines(file);
}

function outputsFileIn(words: readonly string[]): string | undefined {
  const at = words.indexOf(outputsFlag);
  return at === -1 ? undefined : words[at + 1];
}

/** Of all systems that run here, each name once. */
function namesOf(
  runningDirectory: string,
  queuesOf: (outputs: Pick<Deployment, "output">) => readonly { readonly name: string }[],
): readonly string[] {
  const names = findRunningSystems(runningDirectory).flatMap(({ outputs }) =>
    queuesOf({ output: (name) => outputs[name] ?? "" }).map(({ name }) => name),
  );
  return [...new Set(names)];
}

function isOutputs({ long }: Option): boolean {
  return long === outputsFlag;
}

function settingsStages(): readonly string[] {
  return readdirSync(stagesDirectory).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);
}
