import { present } from "../../../domain/core/parse.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { Period } from "../../../domain/recovery/repair.ts";
import { CommandError } from "../core/command-error.ts";
import { periodFlags, type SubjectFlags, subjectFlag } from "../core/flags.ts";

export type ScopeFlags = SubjectFlags & {
  readonly since?: string;
  readonly until?: string;
  readonly all?: boolean;
  readonly failures?: boolean;
};

export type RepairScope = { readonly subject: Subject | undefined; readonly period: Period };

/** @returns undefined if the table is not to be read. @throws CommandError if nothing is to be repaired */
export function repairScope(flags: ScopeFlags, now: Date): RepairScope | undefined {
  const subject = subjectFlag(flags);
  const period = present<Period>(periodFlags(flags, now));
  const { all = false, failures = false } = flags;
  const isNarrowed = subject !== undefined || period.since !== undefined || period.until !== undefined;
  if (all && isNarrowed)
    throw CommandError.usage("--all is everything: leave out what narrows it, or leave out --all.");
  if (all || isNarrowed) return { subject, period };
  if (failures) return undefined;
  throw CommandError.usage(
    "Choose what to repair: --failures (undelivered changes), --since and --until (an outage), --user, --account, --company-account, or --all.",
  );
}
