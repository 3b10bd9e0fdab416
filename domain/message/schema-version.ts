import { laterRelease, permanent } from "../core/failures.ts";

/**
 * Checks the version of a message or item by the rules of docs/adr/0016. Earlier versions are accepted. The
 * next version is read like this one, because it may only have added fields. Anything later is left for a
 * release that can read it.
 * @param written the version that this release writes
 * @throws permanent failure if it is not a version; retryable failure if it is too new
 */
export function checkSchemaVersion(version: unknown, written: number): void {
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    throw permanent("schemaVersion: expected a whole number from 1 on");
  }
  const next = written + 1;
  if (version > next)
    throw laterRelease(`schemaVersion: ${version} is of a later release, this one reads 1 to ${next}`);
}
