import { invalid, notFound, SecretsError } from "./secrets-error.ts";

export type Version = {
  readonly id: string;
  readonly value: string;
  readonly created: Date;
  readonly stages: Set<string>;
};
export type Secret = {
  readonly arn: string;
  readonly name: string;
  readonly created: Date;
  readonly versions: Map<string, Version>;
};

export const current = "AWSCURRENT";
const previous = "AWSPREVIOUS";

/** Adds a version. The first version of a secret becomes current whatever its labels. */
export function addVersion(
  secret: Secret,
  { id, value, created }: Omit<Version, "stages">,
  stages: readonly string[],
): Version {
  const version: Version = { id, value, created, stages: new Set() };
  const isFirst = secret.versions.size === 0;
  secret.versions.set(id, version);
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
  const version = secret.versions.get(id);
  if (version === undefined) throw notFound(`the specified secret value for VersionId: ${id}`);
  if (label !== undefined && !version.stages.has(label)) {
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
  const target = moveTo === undefined ? undefined : secret.versions.get(moveTo);
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
    holder.stages.delete(label);
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
  holder?.stages.delete(label);
  target.stages.add(label);
  if (label === current && holder !== undefined) moveLabel(secret, previous, holder);
}

export function labelled(secret: Secret, label: string): Version | undefined {
  return [...secret.versions.values()].find(({ stages }) => stages.has(label));
}

/** Describes a version without its value. */
export function describeVersion(secret: Secret, version: Version): Readonly<Record<string, unknown>> {
  return { ARN: secret.arn, Name: secret.name, VersionId: version.id, VersionStages: [...version.stages] };
}
