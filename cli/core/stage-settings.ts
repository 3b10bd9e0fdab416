import { join } from "node:path";
import { loadSettings, type Settings, SettingsError } from "../../lib/settings/settings.ts";
import { CommandError } from "./command-error.ts";

export const stagesDirectory = join(import.meta.dirname, "../../stages");

/** The settings of a stage that need not be deployed. @throws CommandError where they are wrong */
export function readStageSettings(stage: string, file?: string): Settings {
  try {
    return loadSettings(stage, stagesDirectory, file);
  } catch (error) {
    if (error instanceof SettingsError) throw new CommandError("usage", error.message);
    throw error;
  }
}
