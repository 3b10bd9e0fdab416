import { parseTimestamp } from "../../../domain/core/timestamps.ts";
import { canonicalId, nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { wants } from "../../../domain/message/message.ts";
import { CommandError } from "./command-error.ts";
import { commandLine } from "./text.ts";

/** Flags with a text each. Errors name the flag. */
export type TextFlags<Name extends string> = { readonly [Each in Name]?: string };

export type SubjectFlags = TextFlags<"user" | "account" | "companyAccount">;

export const subjectKinds = ["user", "account", "company-account"] as const;

/** The subject that the flags name, if any. @throws CommandError if they name two */
export function subjectFlag({ user, account, companyAccount }: SubjectFlags): Subject | undefined {
  const ids = { user, account, "company-account": companyAccount };
  const [subject, other] = subjectKinds.flatMap((kind) => {
    const id = ids[kind];
    return id === undefined ? [] : [{ kind, id }];
  });
  if (other !== undefined)
    throw CommandError.usage(`--${subject?.kind} and --${other.kind} exclude each other: give one.`);
  if (subject?.id === "") throw CommandError.usage(`--${subject.kind} is empty: give it an id.`);
  return subject;
}

/** The subject of a command's arguments. @throws CommandError unless the kind is one, and the id not empty */
export function subjectArgument(
  kind = "",
  id = "",
  kinds: readonly Subject["kind"][] = subjectKinds,
): Subject {
  const known = choiceFlag("<kind>", kind, kinds);
  if (known === undefined || id === "")
    throw CommandError.usage("<id> is empty. Write the provider's id of it.");
  return { kind: known, id: canonicalId(id) };
}

export function isWholeId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

/** Whether the text can be the beginning of such an id. */
export function isBeginningOfId(id: string): boolean {
  return !isWholeId(id) && /^[0-9a-f-]{1,35}$/i.test(id);
}

/** The error for an unknown subject. Only a whole id finds one. */
export function unknownSubject({ kind, id }: Subject): CommandError {
  const nothing = `${kind} ${id} not found.`;
  return isBeginningOfId(id)
    ? CommandError.usage(`${nothing} Write the whole id: a part of one finds no ${kind}.`)
    : new CommandError(
        "nobody",
        `${nothing} It may be of another kind. ${commandLine`Search the logs for it: npx income-events logs ${id}`}`,
      );
}

/** The error for a subject without documents: what to fetch must be named. */
export function withoutDocument(subject: Subject): CommandError {
  const fetch = commandLine`npx income-events fetch ${subject.kind} ${subject.id} income`;
  return CommandError.failed(`${nameOf(subject)} has no document yet. Name an endpoint: ${fetch}`);
}

/**
 * The period between two flags.
 * @throws CommandError if it is empty, because an empty answer would be misleading
 */
export function periodFlags(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  now: Date,
): { readonly since: string | undefined; readonly until: string | undefined } {
  const period = { since: sinceFlag(since, now), until: timestampFlag("--until", until, now) };
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until)
    throw CommandError.usage(`--since ${period.since} is not before --until ${period.until}.`);
  return period;
}

/** @throws CommandError if it is in the future */
export function sinceFlag(text: string | undefined, now: Date): string | undefined {
  const since = timestampFlag("--since", text, now);
  if (since === undefined || since <= now.toISOString()) return since;
  throw CommandError.usage(`--since ${since} is in the future; write an earlier time.`);
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * A time as typed: a date, a date-time (UTC by default), or how long ago (`90m`, `7d`).
 * @returns ISO 8601 in UTC with milliseconds, which compares as text; undefined without the flag
 * @throws CommandError naming the flag
 */
export function timestampFlag(flag: string, text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined;
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? Number.NaN);
  const ago = new Date(now.getTime() - seconds * 1000);
  if (!Number.isNaN(ago.getTime())) return ago.toISOString();
  const timestamp = parseTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text} 00:00:00` : text);
  if (timestamp !== undefined) return timestamp;
  throw CommandError.usage(
    `${flag} ${JSON.stringify(text)} is not a time. Write a date (2026-03-01), a date-time (2026-03-01T12:00:00Z) or how long ago (90m, 24h, 7d).`,
  );
}

/** A duration as typed (`90s`, `2m`, `6h`, `1d`), in seconds. @throws CommandError naming the flag */
export function durationFlag(flag: string, text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit] ?? Number.NaN);
  if (seconds > 0) return seconds;
  throw CommandError.usage(`${flag} ${JSON.stringify(text)} is not a duration. Write 30s, 2m, 6h or 1d.`);
}

/** A whole number above zero. @throws CommandError naming the flag */
export function countFlag(flag: string, text: string, most = Number.POSITIVE_INFINITY): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > most) throw CommandError.usage(`${flag}: write a whole number from 1 to ${most}.`);
  if (count > 0) return count;
  throw CommandError.usage(`${flag} ${JSON.stringify(text)} is not a whole number above zero.`);
}

/** Collects the values of a repeatable option, which is undefined if it is not given. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** One of several words. @throws CommandError naming the flag and the words */
export function choiceFlag<T extends string>(
  flag: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  throw CommandError.usage(`${flag} ${JSON.stringify(text)}: write one of ${choices.join(", ")}.`);
}

/** The types that a flag selects: one, or those of a pattern (`account.*`). @throws CommandError if none */
export function typesFlag<T extends string>(type: string | undefined, types: readonly T[]): readonly T[] {
  const selected = types.filter((one) => type === undefined || wants({ name: "", types: [type] }, one));
  if (selected.length > 0) return selected;
  throw CommandError.usage(
    `--type ${JSON.stringify(type)}: write one of ${types.join(", ")}; or a prefix with *.`,
  );
}

const longestReason = 500;

/**
 * The reason for an action. The audit trail keeps it, so it must not name a person. @throws CommandError
 * naming the flag
 */
export function reasonFlag(flag: string, text: string, { id }: Subject): string {
  const reason = text.trim();
  if (reason === "" || reason.length > longestReason)
    throw CommandError.usage(`${flag}: give a reason of 1 to ${longestReason} characters.`);
  if (reason.toLowerCase().includes(id.toLowerCase()))
    throw CommandError.usage(`${flag} contains the id. Leave it out: the audit trail has no ids.`);
  return reason;
}
