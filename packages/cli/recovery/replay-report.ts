import { oneLine } from "../core/printable.ts";
import { tableText } from "../core/table.ts";
import type { Replayed } from "./replay.ts";

export type ReplayReport = { readonly data: object; readonly text: string; readonly problem?: string };

/** What a replay reported, or with `dryRun` what it would report; `problem` where something could not be reported. */
export function replayReport({ run, unreadable }: Replayed, dryRun: boolean): ReplayReport {
  const { messages, pending, sent } = run.counts;
  const lines = [
    dryRun
      ? `Of ${messages} messages each subscriber would get what its filter takes. Nothing was sent.`
      : `The replay ${run.id} is done. Of ${messages} messages each subscriber got what its filter takes.`,
    tableText(["SUBSCRIBER", "MESSAGES"], Object.entries(sent)),
    ...(pending === 0
      ? []
      : [
          `${pending} events were left out: nothing has followed them yet, and their messages are still to come.`,
        ]),
  ];
  const data = { ...(dryRun ? {} : { replayId: run.id }), messages, sent, pending, unreadable };
  const text = lines.join("\n");
  if (unreadable.length === 0) return { data, text };
  const names = unreadable.map(({ pk, sk }) => oneLine(`${pk} ${sk}`)).join("\n  ");
  const problem = `Nothing was sent of ${unreadable.length} items that this release can't read:\n  ${names}`;
  return { data, text, problem };
}
