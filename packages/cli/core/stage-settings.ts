import type { Command } from "commander";
import { loadSettings, type Settings, SettingsError } from "../../../lib/settings/settings.ts";
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
  try {
    return loadSettings(stage, stagesDirectory, file);
  } catch (error) {
    if (error instanceof SettingsError) throw CommandError.usage(error.message);
    throw error;
  }
}
