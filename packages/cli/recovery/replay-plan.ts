import { randomBytes } from "node:crypto";
import { present } from "../../../domain/core/parse.ts";
import { eventTypes } from "../../../domain/event/events.ts";
import { type Subscriber, wants } from "../../../domain/message/message.ts";
import { answerTypes, readinessTypes } from "../../../domain/message/message-schemas.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import type { ReplaySelection } from "../../../domain/state/replay.ts";
import { CommandError } from "../core/command-error.ts";
import { commandLine } from "../core/command-line.ts";
import { countFlag, periodFlags, type SubjectFlags, subjectFlag } from "../core/flags.ts";

export type ReplayFlags = SubjectFlags & {
  readonly subscriber?: string;
  readonly allSubscribers?: boolean;
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
  readonly allTypes?: boolean;
  readonly rate?: string;
};

/** Messages a second; slow enough to leave readers time for new messages. */
const defaultRate = 50;

/**
 * A new replay from the flags of the command line. It ends now, since the pipeline sends later changes
 * itself.
 * @param all of the stage's subscribers
 * @throws CommandError naming the flag
 */
export function planReplay(flags: ReplayFlags, all: readonly Subscriber[], now: Date): ReplayRun {
  const { type, allTypes = false } = flags;
  const types = [...eventTypes, ...answerTypes, ...readinessTypes];
  if (type !== undefined && !types.some((one) => wants({ name: "", types: [type] }, one)))
    throw CommandError.usage(
      `--type ${JSON.stringify(type)}: write one of ${types.join(", ")}; or a prefix with *.`,
    );
  const { since, until = now.toISOString() } = periodFlags(flags, now);
  const selection = present<ReplaySelection>({ type, since, until });
  const subject = subjectFlag(flags);
  const names = receivers(
    flags,
    all.map(({ name }) => name),
  );
  const chosen = all.filter(({ name }) => names.includes(name));
  const selected = types.filter((one) => type === undefined || wants({ name: "", types: [type] }, one));
  if (!allTypes && !chosen.some((one) => selected.some((each) => wants(one, each))))
    throw CommandError.usage(
      `--type ${type}: the filter of ${names.join(", ")} leaves it out. Add --all-types to send it anyway.`,
    );
  return {
    id: newReplayId(now),
    version: 0,
    selection,
    ...(subject && { subject }),
    subscribers: names,
    allTypes,
    rate: flags.rate === undefined ? defaultRate : countFlag("--rate", flags.rate),
    counts: { examined: 0, messages: 0, pending: 0, sent: {} },
  };
}

/** Resumes an interrupted replay; only its rate can change. @throws CommandError naming the flag */
export function resumeReplay(known: ReplayRun, flags: ReplayFlags, names: readonly string[]): ReplayRun {
  const { rate, ...others } = flags;
  const given = Object.keys(others).filter((name) => selecting.some((one) => one === name));
  if (given.length > 0) {
    const flag = (given[0] ?? "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw CommandError.usage(`--resume continues the earlier selection: leave out --${flag}.`);
  }
  const gone = known.subscribers.find((name) => !names.includes(name));
  if (gone !== undefined)
    throw CommandError.usage(`The stage has no subscriber ${gone} any more. Start another replay.`);
  return rate === undefined ? known : { ...known, rate: countFlag("--rate", rate) };
}

const selecting = [
  "subscriber",
  "allSubscribers",
  "user",
  "account",
  "companyAccount",
  "type",
  "since",
  "until",
  "allTypes",
] as const satisfies readonly (keyof ReplayFlags)[];

function receivers(
  { subscriber, allSubscribers = false }: ReplayFlags,
  names: readonly string[],
): readonly string[] {
  const there = names.length === 0 ? "the stage has none" : `the stage has: ${names.join(", ")}`;
  if (subscriber !== undefined && allSubscribers)
    throw CommandError.usage("--subscriber and --all-subscribers exclude each other: give one.");
  if (subscriber === undefined && !allSubscribers)
    throw CommandError.usage(`Choose --subscriber NAME or --all-subscribers; ${there}.`);
  if (subscriber !== undefined && !names.includes(subscriber))
    throw CommandError.usage(`No subscriber ${subscriber}; ${there}.`);
  if (names.length === 0) throw CommandError.usage("The stage has no subscribers.");
  return subscriber === undefined ? names : [subscriber];
}

export function resumeCommand(id: string): string {
  return commandLine`npx income-events replay --resume ${id}`;
}

/** Readable: its start time and four letters. */
function newReplayId(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(":", "").toLowerCase()}-${randomBytes(3).toString("hex")}`;
}
