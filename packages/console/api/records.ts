import { eraseSubject } from "@income-events/cli/commands/erase.ts";
import { showRecord } from "@income-events/cli/commands/records.ts";
import { audited } from "@income-events/cli/core/audited.ts";
import { subjectArgument } from "@income-events/cli/core/flags.ts";
import { lookupPorts } from "@income-events/cli/events/event-lookup.ts";
import { holdsOn } from "@income-events/cli/records/known-records.ts";
import { attributesOf } from "@income-events/cli/records/record-lookup.ts";
import { shownAttributes } from "@income-events/cli/records/record-view.ts";
import { present } from "../../../domain/core/parse.ts";
import {
  type Asked,
  type ConsoleContext,
  change,
  type Jobs,
  look,
  type Route,
  read,
  runCommand,
} from "../route.ts";

/** The records of users and accounts, without their documents. */
export function recordRoutes(jobs: Jobs): readonly Route[] {
  return [
    read("/api/record", ({ operation }, asked) => {
      const [kind = "", id = ""] = [asked.param("kind"), asked.param("id")];
      return runCommand(operation, (each) => showRecord(each, {}, kind, id));
    }),
    read("/api/states", statesOf),
    look("/api/attributes/reveal", revealAttributes),
    read("/api/record/holds", async ({ operation }, asked) => ({
      holds: await holdsOn(subjectArgument(asked.param("kind"), asked.param("id")), operation),
    })),
    change("/api/erase", async ({ operation }, asked) => {
      const subject = subjectArgument(asked.text("kind"), asked.text("id"));
      asked.checkTyped(subject.id);
      const despiteHold = asked.optionalText("despiteHold");
      const flags = despiteHold === undefined ? {} : { despiteHold };
      return jobs.start(`Erase the ${subject.kind} ${subject.id}`, (onProgress) =>
        runCommand(operation, (each) => eraseSubject(each, subject, flags), { isAgreed: true, onProgress }),
      );
    }),
  ];
}

const maxStates = 50;

/** The states of the requested subjects: `subject=user/ID`, repeatable. */
async function statesOf({ operation }: ConsoleContext, { params }: Asked) {
  const { records } = lookupPorts(operation);
  const names = params.getAll("subject").slice(0, maxStates);
  const states = await Promise.all(
    names.map(async (name) => {
      const [kind, id] = name.split("/");
      const { connected, deleted, unconfirmed, attributes } =
        (await records.loadState(subjectArgument(kind, id))) ?? {};
      const masked = attributes && shownAttributes(attributes.values, false);
      return [name, present({ connected, deleted, unconfirmed, attributes: masked })] as const;
    }),
  );
  return { states: Object.fromEntries(states) };
}

/** The attributes of the subjects in `subjects`, as `user/ID`; the audit trail has an entry for each. */
async function revealAttributes({ operation }: ConsoleContext, { body }: Asked) {
  const { records } = lookupPorts(operation);
  const names = Array.isArray(body.subjects) ? body.subjects.slice(0, maxStates).map(String) : [];
  const attributes = await Promise.all(
    names.map(async (name) => {
      const [kind, id] = name.split("/");
      const subject = subjectArgument(kind, id);
      const act = { act: "reveal", target: `attributes of ${subject.kind}`, subject } as const;
      const load = async () => attributesOf(await records.loadState(subject), records);
      return [name, (await audited(operation, act, load, 1)) ?? {}] as const;
    }),
  );
  return { attributes: Object.fromEntries(attributes) };
}
