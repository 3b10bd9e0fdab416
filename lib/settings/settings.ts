import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { z } from "zod";
import { scaleDurations } from "./scale-durations.ts";
import { SettingsError } from "./settings-error.ts";
import { mappingPartSchema, type Settings, settingsSchema } from "./settings-schema.ts";

export { keyPolicyStatements } from "./key-policy.ts";
export { registrationExportName } from "./registration-export.ts";
export { SettingsError } from "./settings-error.ts";
export { type Settings, selectedBaseUrl } from "./settings-schema.ts";

/**
 * Reads a stage's settings, defaults merged.
 * @param file the settings; without it `<stage>.json` in `directory`
 * @throws SettingsError naming the file, each setting in error and its remedy
 */
export function loadSettings(stage: string, directory: string, file = join(directory, `${stage}.json`)) {
  return parseSettings(readSettings(stage, file), file);
}

/**
 * Parses a stage's settings; their waiting times are divided by `divideDurationsBy`.
 * @throws SettingsError naming `file`, each setting in error and its remedy
 */
export function parseSettings(value: unknown, file: string): Settings {
  const settings = orExplain(settingsSchema.safeParse(value), file);
  return scaleDurations(settings, settingsSchema, settings.divideDurationsBy);
}

/** Distinguishes settings, defaults included: of two that differ in anything, so do the digests. */
export function settingsDigest(settings: Settings): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}

/**
 * Parses the mapping of a stage's settings alone, defaults merged, by the rules of the whole.
 * @throws SettingsError as `parseSettings`
 */
export function parseMappingPart(value: unknown, file: string): Settings["mapping"] {
  return orExplain(mappingPartSchema.safeParse(value), file).mapping;
}

function orExplain<T>(result: z.ZodSafeParseResult<T>, file: string): T {
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap(linesOf).map((line) => `  ${line}`);
  throw new SettingsError([`Settings in ${file}:`, ...lines].join("\n"));
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const keys =
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return keys.map((path) => onOneLine(`${path.map(nameOf).join(".") || "the settings"}: ${issue.message}`));
}

/** A name that is no plain one stands in quotes: else a blank at its end could not be seen. */
function nameOf(key: PropertyKey): string {
  const name = String(key);
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Names and expressions of a file can hold anything; a line of the refusal is a setting's. */
function onOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A stage's settings as they are written, whatever an editor begins the file and ends its lines with.
 * @throws SettingsError where the file is not there, or no JSON
 */
export function readSettings(stage: string, file: string): unknown {
  const text = readText(file, stage)
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`Settings in ${file}: not JSON (${messageOf(error)}); correct it there`);
  }
}

function readText(file: string, stage: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingsError(
      `Settings of stage ${stage}: can't read ${file} (${messageOf(error)}); ` +
        "create it, or name a stage with -c stage=NAME or a file with -c settings=FILE",
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An output is for people too: what is longer than this is left out. */
const maxCharacters = 4_000;
/** Many times what settings are: the outputs may be a file from anywhere. */
const maxBytes = 1_000_000;

/** Settings in one word, defaults included; undefined where they are too many for an output. */
export function packSettings(settings: Settings): string | undefined {
  // As in an address: a slash would make it look like one to whoever checks that outputs lead nowhere else.
  const packed = brotliCompressSync(JSON.stringify(settings)).toString("base64url");
  return packed.length > maxCharacters ? undefined : packed;
}

/** What was packed, which another release may have written; undefined where it is no such word. */
export function unpackSettings(packed: string): unknown {
  try {
    const text = brotliDecompressSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxBytes });
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
