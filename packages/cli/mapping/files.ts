import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { CommandError } from "../core/command-error.ts";
import { distinct, parseSample, type Sample } from "./sample.ts";

/** @throws CommandError where it can't be read */
export function readSampleFile(file: string): Sample {
  return parseSample(
    file,
    tryToRead(file, () => readFileSync(file)),
  );
}

/**
 * The samples of a folder, by kind, in the order of their names: files that end in `.json` or `.http`, of `kind` or else in
 * folders that are named by kinds.
 * @throws CommandError where there are none, or where a file is of no kind
 */
export function readSampleFolder(
  directory: string,
  kind: WebhookKind | undefined,
): ReadonlyMap<WebhookKind, readonly Sample[]> {
  const found = kind === undefined ? foldersOfKinds(directory) : [{ kind, folder: directory }];
  const samples = found.map(({ kind: of, folder }) => [of, distinct(samplesIn(folder))] as const);
  const filled = samples.filter(([, list]) => list.length > 0);
  if (filled.length > 0) return new Map(filled);
  throw new CommandError(
    "usage",
    `${directory} has no samples. Put a webhook's body in each file, named .json, or its headers, an empty line and the\n` +
      `body in a file named .http; in folders named ${webhookKinds.join(", ")}, or in one folder with --kind.`,
  );
}

function foldersOfKinds(
  directory: string,
): readonly { readonly kind: WebhookKind; readonly folder: string }[] {
  const loose = samplesIn(directory).length;
  if (loose > 0) {
    throw new CommandError(
      "usage",
      `${directory} has ${loose} samples of no kind. Move them into folders named ${webhookKinds.join(", ")}, or add --kind.`,
    );
  }
  const names = list(directory);
  return webhookKinds
    .filter((kind) => names.includes(kind))
    .map((kind) => ({ kind, folder: join(directory, kind) }));
}

function samplesIn(folder: string): readonly Sample[] {
  return list(folder)
    .filter((name) => /\.(json|http)$/.test(name) && statSync(join(folder, name)).isFile())
    .map((name) => readSampleFile(join(folder, name)));
}

function list(directory: string): readonly string[] {
  return tryToRead(directory, () => readdirSync(directory)).toSorted();
}

function tryToRead<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new CommandError(
      "usage",
      `${path} can't be read: ${error instanceof Error ? error.message : error}.`,
    );
  }
}
