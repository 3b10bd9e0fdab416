import { diffTemplate, type ResourceDifference } from "@aws-cdk/cloudformation-diff";
import { instance, isReplaced, neverReplaced, type Release, type Summary } from "./release.ts";

/** Effects of an upgrade from a release. */
export type Changes = {
  /** Changes that no release may make, each with its reason. */
  readonly forbidden: readonly string[];
  /** Changes that users must know: the upgrade notes contain each of these sentences. */
  readonly toNote: readonly string[];
};

/** Properties whose change generates a new value, replacing the one in use. */
const generating = ["GenerateSecretString", "SecretString"];

/**
 * @param summarize summarizes a stage as synthesized today
 * @returns each change once, whichever recorded stages have it
 */
export function changesSince(
  { version, stages }: Release,
  summarize: (stage: Release["stages"][number]) => Summary,
): Changes {
  const forbidden = new Set<string>();
  const toNote = new Set<string>();
  for (const stage of stages) {
    const today = summaryOrRefusal(() => summarize(stage));
    if (typeof today === "string") {
      forbidden.add(`settings of ${version} (${stage.name}) would be refused: ${today}`);
      continue;
    }
    const found = compare(stage.template, today, (id) => nameOf(id, stage.inAnApp));
    for (const sentence of found.forbidden) forbidden.add(sentence);
    for (const sentence of found.toNote) toNote.add(sentence);
  }
  return { forbidden: [...forbidden], toNote: [...toNote] };
}

function summaryOrRefusal(summarize: () => Summary): Summary | string {
  try {
    return summarize();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A template id without the construct's own id and CDK's digest of the path, comparable between stages. */
function nameOf(id: string, inAnApp: boolean): string {
  const short = inAnApp && id.startsWith(instance) ? id.slice(instance.length) : id;
  return short.replace(/[0-9A-F]{8}$/, "");
}

type NameOf = (id: string) => string;

function compare(before: Summary, after: Summary, name: NameOf): Changes {
  const forbidden: string[] = [];
  const toNote: string[] = [];
  const { resources } = diffTemplate({ Resources: before.Resources }, { Resources: after.Resources });
  resources.forEachDifference((id, difference) => {
    const type = difference.oldResourceType;
    if (type === undefined) return;
    const what = `\`${name(id)}\` (${type})`;
    const taken = takenAway(difference, after.Resources[id] === undefined);
    if (taken !== undefined && neverReplaced.has(type)) forbidden.push(`${what} would be ${taken}`);
    else if (taken !== undefined) toNote.push(`${what} is ${taken}.`);
    else toNote.push(...changedNames(difference).map((changed) => `${what} has another \`${changed}\`.`));
  });
  return {
    forbidden,
    toNote: [
      ...toNote,
      ...outputs(before, after, name),
      ...parameters(before, after, name),
      ...deployment(before, after),
    ],
  };
}

function takenAway(difference: ResourceDifference, isGone: boolean): string | undefined {
  if (isGone) return "removed";
  if (difference.resourceTypeChanged || isReplaced(difference.changeImpact)) return "replaced";
  const generated = generating.filter((name) => difference.propertyUpdates[name] !== undefined);
  return difference.oldResourceType === "AWS::SecretsManager::Secret" && generated.length > 0
    ? "generated anew"
    : undefined;
}

function changedNames({ propertyUpdates, otherChanges }: ResourceDifference): readonly string[] {
  return [propertyUpdates, otherChanges].flatMap(Object.keys);
}

function outputs(before: Summary, after: Summary, name: NameOf): readonly string[] {
  return Object.entries(before.Outputs).flatMap(([id, references]) => {
    const now = after.Outputs[id];
    if (now === undefined) return [`The output \`${name(id)}\` is gone.`];
    return now.join() === references.join() ? [] : [`The output \`${name(id)}\` names something else.`];
  });
}

function parameters(before: Summary, after: Summary, name: NameOf): readonly string[] {
  const gone = Object.keys(before.Parameters).filter((id) => after.Parameters[id] === undefined);
  const all = Object.entries(after.Parameters).flatMap(([id, now]) => {
    const { Default: byDefault, ...rest } = before.Parameters[id] ?? {};
    const { Default: newDefault, ...limits } = now;
    const isNew = before.Parameters[id] === undefined;
    if (newDefault === undefined && (isNew || byDefault !== undefined))
      return [`The parameter \`${name(id)}\` is needed.`];
    return isNew || JSON.stringify(limits) === JSON.stringify(rest)
      ? []
      : [`The parameter \`${name(id)}\` takes other values.`];
  });
  return [...gone.map((id) => `The parameter \`${name(id)}\` is gone.`), ...all];
}

/** New requirements for whoever deploys. */
function deployment(before: Summary, after: Summary): readonly string[] {
  const added = after.types.filter((type) => !before.types.includes(type));
  const bootstrap = JSON.stringify(before.Rules) !== JSON.stringify(after.Rules);
  return [
    ...added.map((type) => `Who deploys needs the permission to create \`${type}\`.`),
    ...(bootstrap ? ["The account needs another version of CDK's bootstrap."] : []),
  ];
}

/**
 * @param page the page of upgrades, with a heading `From <version>` for each release
 * @returns the sentences that are missing in the release's section
 */
export function missingNotes(page: string, version: string, toNote: readonly string[]): readonly string[] {
  const heading = `## From ${version}`;
  const [, part] = page.split(new RegExp(`^${RegExp.escape(heading)}$`, "m"));
  if (part === undefined) return [heading];
  const [notes = ""] = part.split(/^## /m);
  const text = notes.replace(/\s+/g, " ");
  return toNote.filter((sentence) => !text.includes(sentence));
}
