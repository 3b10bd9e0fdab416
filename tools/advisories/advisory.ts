import { z } from "zod";

const event = z.object({
  introduced: z.string().exactOptional(),
  fixed: z.string().exactOptional(),
  last_affected: z.string().exactOptional(),
});

/** What is read of an advisory in the format of OSV (https://ossf.github.io/osv-schema/). */
const advisory = z.object({
  id: z.string(),
  summary: z.string().default(""),
  withdrawn: z.string().exactOptional(),
  affected: z
    .array(
      z.object({
        package: z.object({ ecosystem: z.string(), name: z.string() }).exactOptional(),
        versions: z.array(z.string()).default([]),
        ranges: z.array(z.object({ type: z.string(), events: z.array(event) })).default([]),
      }),
    )
    .default([]),
});

export type Advisory = z.output<typeof advisory>;
export type Installed = { readonly name: string; readonly version: string };

export function parseAdvisory(value: unknown): Advisory {
  return advisory.parse(value);
}

/** Whether an advisory that was not withdrawn is about an installed version of a package of npm. */
export function affects({ withdrawn, affected }: Advisory, { name, version }: Installed): boolean {
  if (withdrawn !== undefined) return false;
  return affected
    .filter((part) => part.package?.ecosystem === "npm" && part.package.name === name)
    .some(
      ({ versions, ranges }) =>
        versions.includes(version) ||
        ranges.some(({ type, events }) => type !== "GIT" && isWithin(version, events)),
    );
}

/** Events in the order of their versions: each begins or ends the versions that are affected. */
function isWithin(version: string, events: readonly z.output<typeof event>[]): boolean {
  let isAffected = false;
  for (const { introduced, fixed, last_affected } of events) {
    if (introduced !== undefined && compareVersions(version, introduced) >= 0) isAffected = true;
    if (fixed !== undefined && compareVersions(version, fixed) >= 0) isAffected = false;
    if (last_affected !== undefined && compareVersions(version, last_affected) > 0) isAffected = false;
  }
  return isAffected;
}

/** By the order of Semantic Versioning 2.0.0; what is built of a version does not count. "0" is before all. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [partsOf(one), partsOf(other)];
  for (const index of [0, 1, 2]) {
    const difference = (first.numbers[index] ?? 0) - (second.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(first.prerelease, second.prerelease);
}

function partsOf(version: string): { numbers: readonly number[]; prerelease: readonly string[] } {
  const [release = "", ...rest] = (version.split("+")[0] ?? "").split("-");
  const prerelease = rest.join("-");
  return {
    numbers: release.split(".").map(Number),
    prerelease: prerelease === "" ? [] : prerelease.split("."),
  };
}

function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const [left, right] = [one[index], other[index]];
    if (left === right) continue;
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    return compareIdentifiers(left, right);
  }
  return 0;
}

/** Numbers by their value, and before words. */
function compareIdentifiers(left: string, right: string): number {
  const isNumber = (text: string) => /^\d+$/.test(text);
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  if (isNumber(left) !== isNumber(right)) return isNumber(left) ? -1 : 1;
  return left < right ? -1 : 1;
}
