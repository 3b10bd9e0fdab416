import type { Command } from "commander";
import { type OperatorAct, operatorActs } from "../../../domain/recovery/operator-act.ts";
import { auditTrailOf, digestFor } from "../core/audited.ts";
import { addCommand } from "../core/command.ts";
import {
  choiceFlag,
  countFlag,
  isBeginningOfId,
  type SubjectFlags,
  sinceFlag,
  subjectFlag,
  unknownSubject,
} from "../core/flags.ts";
import { tableText } from "../core/table.ts";

type Flags = SubjectFlags & { readonly since?: string; readonly act?: string; readonly limit: string };

export function addTo(program: Command): void {
  const group = program.command("audit").description("Lists operators' actions.");
  addCommand<Flags>(group, {
    name: "list",
    summary:
      "Lists operators' actions, newest first: who, when, what, how many. Entries name no user; search by an id to find the actions on it.",
    subject: ["on this", ", even if erased since"],
    examples: [
      "npx income-events audit list",
      "npx income-events audit list --act reveal --since 7d --outputs outputs.json",
      "npx income-events audit list --user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed    who viewed or changed this user",
    ],
    run: async (operation, flags) => {
      const wanted = choiceFlag("--act", flags.act, operatorActs);
      const since = sinceFlag(flags.since, new Date());
      const limit = countFlag("--limit", flags.limit);
      const about = subjectFlag(flags);
      const subject = about && (await digestFor(operation, about));
      const acts: OperatorAct[] = [];
      for await (const each of auditTrailOf(operation).list(since)) {
        const isWanted =
          (wanted === undefined || each.act === wanted) &&
          (subject === undefined || each.subject === subject);
        if (isWanted && acts.push(each) === limit) break;
      }
      if (acts.length === 0 && about !== undefined && isBeginningOfId(about.id)) throw unknownSubject(about);
      const hasReasons = acts.some(({ reason }) => reason !== undefined);
      operation.terminal.result(
        { stage: operation.deployment.stage, acts },
        tableText(
          ["AT", "WHO", "ACT", "TARGET", "ABOUT", "COUNT", "OUTCOME", ...(hasReasons ? ["REASON"] : [])],
          acts.map(({ at, who, act, target, subject, count, outcome, reason }) => {
            const row = [at, who, act, target, subject?.slice(0, shownOfDigest), count, outcome];
            return hasReasons ? [...row, reason] : row;
          }),
          "No actions found.",
        ),
      );
    },
  })
    .option("--act <act>", `one of ${operatorActs.join(", ")}`)
    .option("--since <time>", "a date, a date-time, or how long ago (90m, 24h, 7d)")
    .option("--limit <count>", "maximum number", "50");
}

/** Long enough to show that two actions concern the same person. */
const shownOfDigest = 8;
