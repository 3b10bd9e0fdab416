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
 * Reads a stage's settings and adds defaults.
 * @param file the settings file; default: `<stage>.json` in `directory`
 * @throws SettingsError with the file, each invalid setting and its remedy
 */
export function loadSettings(stage: string, directory: string, file = join(directory, `${stage}.json`)) {
  return parseSettings(readSettings(stage, file), file);
}

/**
 * Parses a stage's settings, and divides their waiting times by `divideDurationsBy`.
 * @throws SettingsError with `file`, each invalid setting and its remedy
 */
export function parseSettings(value: unknown, file: string): Settings {
  const settings = orExplain(settingsSchema.safeParse(value), file);
  return scaleDurations(settings, settingsSchema, settings.divideDurationsBy);
}

/** Digest of all settings including defaults. */
export function settingsDigest(settings: Settings): string {
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}

/**
 * Parses only the mapping of a stage's settings, by the same rules, and adds defaults.
 * @throws SettingsError like `parseSettings`
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

/** Quotes an unusual name, so that a space at its end can be seen. */
function nameOf(key: PropertyKey): string {
  const name = String(key);
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Escapes control characters in names and expressions, so that each error stays on one line. */
function onOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Reads a stage's settings without defaults. Ignores a byte order mark, and accepts CRLF.
 * @throws SettingsError if the file can't be read or is not JSON
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

/** People read outputs too, so a longer value is omitted. */
const maxCharacters = 4_000;
/** Many times the size of real settings. Protects from outputs of unknown origin. */
const maxBytes = 1_000_000;

/** Compresses settings, including defaults, into one word; undefined if they are too long for an output. */
export function packSettings(settings: Settings): string | undefined {
  // base64url has no slash, which would look like an address to checks of the outputs.
  const packed = brotliCompressSync(JSON.stringify(settings)).toString("base64url");
  return packed.length > maxCharacters ? undefined : packed;
}

/** Reverses `packSettings`, possibly of another release; undefined for an invalid word. */
export function unpackSettings(packed: string): unknown {
  try {
    const text = brotliDecompressSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxBytes });
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
