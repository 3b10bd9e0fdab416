import { eraseSubject } from "@income-events/cli/commands/erase.ts";
import { showRecord } from "@income-events/cli/commands/records.ts";
import { audited } from "@income-events/cli/core/audited.ts";
import type { Operation } from "@income-events/cli/core/command.ts";
import { subjectArgument } from "@income-events/cli/core/flags.ts";
import { lookupPorts } from "@income-events/cli/events/event-lookup.ts";
import { holdsOn } from "@income-events/cli/records/known-records.ts";
import { attributesOf } from "@income-events/cli/records/record-lookup.ts";
import { type ShownState, shownAttributes } from "@income-events/cli/records/record-view.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Attributes } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import {
  type Asked,
  agreed,
  type ConsoleContext,
  change,
  type Jobs,
  masked,
  type Route,
  read,
  runCommand,
} from "../route.ts";

/** The records of users and accounts, without their documents. */
export function recordRoutes(jobs: Jobs): readonly Route[] {
  return [
    ...masked("/api/record", async ({ operation }, asked, reveal) => {
      const subject = subjectIn(asked);
      const show = (each: Operation) => showRecord(each, {}, subject.kind, subject.id);
      const record = await runCommand(operation, show);
      return reveal ? { ...record, attributes: await revealed(operation, subject) } : record;
    }),
    ...masked("/api/states", statesOf),
    read("/api/record/holds", ({ operation }, asked) => holdsOn(subjectIn(asked), operation)),
    change("/api/erase", async ({ operation }, asked) => {
      const subject = subjectIn(asked);
      asked.checkTyped(subject.id);
      const flags = present({ despiteHold: asked.optional("despiteHold") });
      const erase = agreed(operation, (each) => eraseSubject(each, subject, flags));
      return jobs.start(`Erase the ${subject.kind} ${subject.id}`, erase);
    }),
  ];
}

export function subjectIn(asked: Asked): Subject {
  return subjectArgument(asked.optional("kind"), asked.optional("id"));
}

const maxStates = 50;

/** A state in a list. */
export type SubjectState = Partial<Pick<ShownState, "connected" | "deleted" | "unconfirmed">> & {
  readonly attributes?: Attributes;
};

/** The states of the subjects that the request names as `user/ID`, by these names. */
async function statesOf(
  { operation }: ConsoleContext,
  asked: Asked,
  reveal: boolean,
): Promise<Readonly<Record<string, SubjectState>>> {
  const { records } = lookupPorts(operation);
  const states = await Promise.all(
    asked
      .texts("subject")
      .slice(0, maxStates)
      .map(async (name) => {
        const [kind, id] = name.split("/");
        const subject = subjectArgument(kind, id);
        const { connected, deleted, unconfirmed, attributes } = (await records.loadState(subject)) ?? {};
        const masked = attributes && shownAttributes(attributes.values, false);
        const shown = masked && reveal ? await revealed(operation, subject) : masked;
        return [name, present({ connected, deleted, unconfirmed, attributes: shown })] as const;
      }),
  );
  return Object.fromEntries(states);
}

/** The attributes of a subject's user; the audit trail has an entry for the look. */
async function revealed(operation: Operation, subject: Subject): Promise<Attributes | undefined> {
  const { records } = lookupPorts(operation);
  const act = { act: "reveal", target: `attributes of ${subject.kind}`, subject } as const;
  return audited(operation, act, async () => attributesOf(await records.loadState(subject), records), 1);
}
