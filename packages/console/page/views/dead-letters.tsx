import type { QueueSummary } from "@income-events/cli/commands/dlq-list.ts";
import { useLoaded } from "../api.ts";
import { OfQueue } from "../dead-letters/of-queue.tsx";
import { RelayFailures, Work } from "../dead-letters/relay-failures.tsx";
import { number, visible } from "../format.ts";
import { Table } from "../parts/data.tsx";
import { Command, deadLettersPath, Panel, Refresh, Time } from "../parts/panel.tsx";
import { searchWord } from "../route.ts";

export function DeadLetters() {
  const { data, error, reload } = useLoaded<{ readonly queues: readonly QueueSummary[] }>(
    "/api/dead-letters",
  );
  const queue = searchWord("queue");
  const held = (data?.queues ?? []).filter(({ deadLetters, archived }) => deadLetters + archived > 0);
  return (
    <>
      <Panel title="By queue" error={error} aside={<Refresh onClick={reload} />}>
        {data === undefined && error === undefined && <p class="quiet">Reading the queues…</p>}
        {data !== undefined && held.length === 0 && <p class="empty">No dead letters.</p>}
        {held.length > 0 && (
          <Table
            columns={["Queue", "Dead letters", "Archived", "Since", "Reasons"]}
            classes={{ Queue: "queue", "Dead letters": "figure", Archived: "figure" }}
            rows={held.map(({ queue: name, deadLetters, archived, oldest, reasons }) => [
              <a href={deadLettersPath(name)}>{name}</a>,
              number(deadLetters),
              archived === 0 ? (
                "0"
              ) : (
                <a
                  href={`${deadLettersPath(name)}&archive=yes`}
                  aria-label={`${number(archived)} of ${name} in the archive`}
                >
                  {number(archived)}
                </a>
              ),
              <Time at={oldest} />,
              <Reasons of={reasons} />,
            ])}
          />
        )}
        <Command line="npx income-events dlq list" />
      </Panel>
      {queue !== "" && <OfQueue queue={queue} key={`${queue} ${searchWord("archive")}`} onChanged={reload} />}
      <RelayFailures />
      <Work of="dead-letters" />
    </>
  );
}

/** Maximum reasons to list for a queue; the filter finds the others. */
const maxReasons = 5;

function Reasons({ of }: { readonly of: QueueSummary["reasons"] }) {
  return (
    <>
      {of.slice(0, maxReasons).map(({ reason, count }) => (
        <p key={reason}>
          {visible(reason)} ({number(count)})
        </p>
      ))}
      {of.length > maxReasons && <p class="quiet">{number(of.length - maxReasons)} more</p>}
    </>
  );
}
