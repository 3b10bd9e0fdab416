import { relative } from "node:path";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import type { Deployment } from "@income-events/cli/core/deployment.ts";
import {
  differencesFrom,
  examineSettings,
  type SettingsDifference,
  settingsFile,
} from "@income-events/cli/doctor/settings-check.ts";
import {
  checkMapping,
  readStageMapping,
  type StageMapping,
} from "@income-events/cli/mapping/stage-mapping.ts";
import { tryMapping } from "@income-events/cli/mapping/trial.ts";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { look, optionalTextIn, param, type Route, read, textIn } from "../route.ts";

export const mappingRoutes: readonly Route[] = [
  read("/api/mapping", async ({ operation, settings }, asked) => ({
    mapping: mappingOf(param(asked, "stage") ?? operation.deployment.stage, settings),
  })),
  read("/api/mapping/deployed", async ({ operation: { deployment }, settings }) =>
    comparedWithFile(deployment, settings),
  ),
  // Maps the pasted webhook on this machine, and stores nothing.
  look("/api/mapping/try", async ({ operation, settings }, asked) => {
    const body = textIn(asked, "webhook");
    const mapping =
      editedMapping(optionalTextIn(asked, "mapping")) ?? mappingOf(operation.deployment.stage, settings);
    const sample = { name: "the webhook", bytes: Buffer.from(body), headers: {} };
    const chosen = optionalTextIn(asked, "kind");
    const kinds = webhookKinds.filter((kind) => chosen === undefined || kind === chosen);
    return { trials: kinds.map((kind) => tryMapping(kind, mapping[kind], sample, jmespathSearch)) };
  }),
];

export type ComparedSettings = {
  readonly file?: string;
  /** How the file differs from the deployed mapping, and what to do; undefined if it does not. */
  readonly finding?: { readonly what: string; readonly fix: string };
  readonly differences?: readonly SettingsDifference[];
};

/** Compares digests, and single settings if the stage's outputs have them. */
function comparedWithFile(deployment: Deployment, given: string | undefined): ComparedSettings {
  const file = settingsFile(deployment.stage, given);
  if (file === undefined) return {};
  const [finding] = examineSettings(deployment, file);
  if (finding === undefined) return { file: relative(".", file) };
  const { what, fix } = finding;
  return {
    file: relative(".", file),
    finding: { what, fix },
    differences: differencesFrom(deployment, file),
  };
}

/** The default mapping, for a stage without a settings file here. */
function mappingOf(stage: string, file: string | undefined): StageMapping {
  try {
    return readStageMapping(stage, file);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return checkMapping({}, "the default mapping");
  }
}

function editedMapping(text: string | undefined): StageMapping | undefined {
  if (text === undefined) return undefined;
  let mapping: unknown;
  try {
    mapping = JSON.parse(text);
  } catch (error) {
    throw CommandError.usage(`The mapping is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  return checkMapping({ mapping }, "the edited mapping");
}
