import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import type { WebhookKind } from "../../../domain/event/events.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import {
  loadSettings,
  parseMappingPart,
  readSettings,
  type Settings,
  SettingsError,
} from "../../../lib/settings/settings.ts";
import { CommandError } from "./command-error.ts";
import { stagesDirectory } from "./places.ts";

export type StageFlags = { readonly stage: string; readonly settings?: string };

/** Adds the flags that select a stage, deployed or not. */
export function addStageFlags(command: Command, what: string, defaultStage: string): Command {
  return command
    .option("--stage <name>", what, defaultStage)
    .option("--settings <file>", "read the settings from this file instead of stages/STAGE.json");
}

/** The settings of a stage, deployed or not. @throws CommandError if they are invalid */
export function readStageSettings(stage: string, file?: string): Settings {
  const path = fileOf(stage, file);
  return checked(() => loadSettings(stage, stagesDirectory, path));
}

/** @throws CommandError naming each invalid setting and its remedy */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SettingsError) throw CommandError.usage(error.message);
    throw error;
  }
}

export type StageMapping = Readonly<Record<WebhookKind, KindMapping>>;

/** The mapping of a stage, or of a settings file, as it would be deployed. @throws CommandError */
export function readStageMapping(stage: string, settings: string | undefined): StageMapping {
  const file = fileOf(stage, settings);
  return checkMapping(
    checked(() => readSettings(stage, file)),
    file,
  );
}

/** @throws CommandError naming the stages that there are */
function fileOf(stage: string, file = join(stagesDirectory, `${stage}.json`)): string {
  if (existsSync(file)) return file;
  const known = existsSync(stagesDirectory) ? readdirSync(stagesDirectory) : [];
  const names = known.flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []).join(", ") || "none here";
  throw CommandError.usage(
    `${relative(".", file)} not found. Name a stage (${names}) with --stage, or a file with --settings.`,
  );
}

/** Settings are checked as at synth. @throws CommandError naming each invalid setting and its remedy */
export function checkMapping(settings: unknown, file: string): StageMapping {
  return checked(() => parseMappingPart(settings, file));
}
