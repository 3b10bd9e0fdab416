import { gt, gte } from "semver";
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
    // OSV's "0" is before all versions, prereleases included.
    if (introduced === "0" || (introduced !== undefined && gte(version, introduced))) isAffected = true;
    if (fixed !== undefined && gte(version, fixed)) isAffected = false;
    if (last_affected !== undefined && gt(version, last_affected)) isAffected = false;
  }
  return isAffected;
}
