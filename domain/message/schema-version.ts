import { laterRelease, permanent } from "../core/failures.ts";

/**
 * Checks the version that a message or an item carries, by the rules of docs/adr/0016: all earlier ones are read, and
 * the next one as if it were of this release, for it may only have added fields. What is later than that is left, as it
 * is, to a release that can read it.
 * @param written the version that this release writes
 * @throws permanent failure where it is no version; a retryable one where it is too new
 */
export function checkSchemaVersion(version: unknown, written: number): void {
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    throw permanent("schemaVersion: expected a whole number from 1 on");
  }
  const next = written + 1;
  if (version > next)
    throw laterRelease(`schemaVersion: ${version} is of a later release, this one reads 1 to ${next}`);
}
