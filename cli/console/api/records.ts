import { canonicalId } from "../../../domain/event/canonical-id.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { eraseSubject } from "../../commands/erase.ts";
import { showRecord } from "../../commands/records-show.ts";
import { CommandError } from "../../core/command-error.ts";
import type { Jobs } from "../jobs.ts";
import { type Asked, checkTyped, optionalTextIn, param, type Route, textIn } from "../route.ts";
import { runCommand } from "../run-command.ts";

export function recordRoutes(jobs: Jobs): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/record",
      answer: ({ operation }, asked) => {
        const endpoint = param(asked, "endpoint");
        const flags = endpoint === undefined ? {} : { data: endpoint };
        const [kind = "", id = ""] = [param(asked, "kind"), param(asked, "id")];
        return runCommand(operation, (each) => showRecord(each, flags, kind, id));
      },
    },
    {
      // A look: it is written into the audit trail, and changes nothing else.
      method: "POST",
      path: "/api/record/reveal",
      answer: ({ operation }, asked) => {
        const endpoint = optionalTextIn(asked, "endpoint");
        const flags = { reveal: true, ...(endpoint !== undefined && { data: endpoint }) };
        return runCommand(operation, (each) =>
          showRecord(each, flags, textIn(asked, "kind"), textIn(asked, "id")),
        );
      },
    },
    {
      method: "POST",
      path: "/api/erase",
      changes: true,
      answer: async ({ operation }, asked) => {
        const subject = subjectIn(asked);
        checkTyped(asked, subject.id);
        return jobs.start(`Erase the ${subject.kind} ${subject.id}`, (onProgress) =>
          runCommand(operation, (each) => eraseSubject(each, subject, {}), { isAgreed: true, onProgress }),
        );
      },
    },
  ];
}

function subjectIn(asked: Asked): Subject {
  const [kind, id] = [textIn(asked, "kind"), canonicalId(textIn(asked, "id"))];
  if (kind === "user" || kind === "account" || kind === "company-account") return { kind, id };
  throw new CommandError("usage", `${kind} is nobody: write user, account or company-account.`);
}
