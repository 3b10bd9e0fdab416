import { z } from "zod";
import { invalid, notFound, SecretsError } from "./secrets-error.ts";

/** A secret, as it is kept between starts. */
export const keptSecret = z.object({
  arn: z.string(),
  name: z.string(),
  created: z.coerce.date(),
  versions: z.array(
    z.object({
      id: z.string(),
      value: z.string(),
      created: z.coerce.date(),
      stages: z.array(z.string()),
    }),
  ),
});
export type Secret = z.output<typeof keptSecret>;
type Version = Secret["versions"][number];

export const current = "AWSCURRENT";
const previous = "AWSPREVIOUS";

/** Adds a version. The first version of a secret becomes current whatever its labels. */
export function addVersion(
  secret: Secret,
  { id, value, created }: Omit<Version, "stages">,
  stages: readonly string[],
): Version {
  const version: Version = { id, value, created, stages: [] };
  const isFirst = secret.versions.length === 0;
  secret.versions.push(version);
  for (const label of isFirst ? new Set([current, ...stages]) : stages) moveLabel(secret, label, version);
  return version;
}

/** @throws SecretsError if there is no such version, or it does not have the label */
export function readVersion(secret: Secret, id: string | undefined, label: string | undefined): Version {
  if (id === undefined) {
    const version = labelled(secret, label ?? current);
    if (version === undefined)
      throw notFound(`the specified secret value for staging label: ${label ?? current}`);
    return version;
  }
  const version = versionOf(secret, id);
  if (version === undefined) throw notFound(`the specified secret value for VersionId: ${id}`);
  if (label !== undefined && !version.stages.includes(label)) {
    throw new SecretsError(
      "InvalidRequestException",
      "You provided a VersionStage that is not associated to the provided VersionId.",
    );
  }
  return version;
}

/**
 * Moves a label. Acts as a compare-and-swap, on which token promotion relies: the caller must name the
 * version that loses the label.
 */
export function updateStage(
  secret: Secret,
  label: string,
  moveTo: string | undefined,
  removeFrom: string | undefined,
): void {
  const holder = labelled(secret, label);
  const target = moveTo === undefined ? undefined : versionOf(secret, moveTo);
  if (moveTo !== undefined && target === undefined)
    throw notFound(`the specified secret value for VersionId: ${moveTo}`);
  if (removeFrom !== undefined && removeFrom !== holder?.id) {
    throw invalid(
      `The parameter RemoveFromVersionId is not valid. Staging label ${label} is ` +
        `${holder === undefined ? "attached to no version" : `currently attached to version ${holder.id}`}.`,
    );
  }
  if (target === undefined) {
    if (holder === undefined || removeFrom === undefined)
      throw invalid("You must name a version to move the label to.");
    if (label === current) {
      throw invalid(
        `You can only move staging label ${current} to a different secret version. It can't be completely removed.`,
      );
    }
    removeLabel(holder, label);
    return;
  }
  if (holder !== undefined && holder !== target && removeFrom === undefined) {
    throw invalid(
      `The parameter RemoveFromVersionId can't be empty. Staging label ${label} is currently attached to version ` +
        `${holder.id}, so you must explicitly reference that version in RemoveFromVersionId.`,
    );
  }
  moveLabel(secret, label, target);
}

/**
 * Moves a label, which is on one version at a time. The version that loses AWSCURRENT becomes AWSPREVIOUS.
 */
function moveLabel(secret: Secret, label: string, target: Version): void {
  const holder = labelled(secret, label);
  if (holder === target) return;
  if (holder !== undefined) removeLabel(holder, label);
  target.stages.push(label);
  if (label === current && holder !== undefined) moveLabel(secret, previous, holder);
}

function removeLabel(version: Version, label: string): void {
  version.stages = version.stages.filter((each) => each !== label);
}

export function labelled({ versions }: Secret, label: string): Version | undefined {
  return versions.find(({ stages }) => stages.includes(label));
}

export function versionOf({ versions }: Secret, id: string): Version | undefined {
  return versions.find((version) => version.id === id);
}

/** Describes a version without its value. */
export function describeVersion(secret: Secret, version: Version): Readonly<Record<string, unknown>> {
  return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: [...version.stages] };
}
