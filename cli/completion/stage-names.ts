import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Option } from "commander";
import { outputsStages } from "../core/deployment.ts";
import { findRunningSystems } from "../core/running-systems.ts";
import type { ValuesOf } from "./candidates.ts";

const settingsDirectory = join(import.meta.dirname, "../../stages");
const outputsFlag = "--outputs";

/** Stages by name: those of the outputs' file, those that run on this machine, or those that have settings. */
export function stageNames(runningDirectory: string): ValuesOf {
  return (option, command, words) => {
    if (option.long !== "--stage") return [];
    if (!command.options.some(isOutputs)) return settingsStages();
    const at = words.indexOf(outputsFlag);
    const file = at === -1 ? undefined : words[at + 1];
    if (file !== undefined) return outputsStages(file);
    return findRunningSystems(runningDirectory).map(({ stack }) => stack.replace(/^income-events-/, ""));
  };
}

function isOutputs({ long }: Option): boolean {
  return long === outputsFlag;
}

function settingsStages(): readonly string[] {
  return readdirSync(settingsDirectory).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);
}
