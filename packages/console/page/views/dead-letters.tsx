import type { QueueSummary } from "@income-events/cli/commands/dlq.ts";
import { useState } from "preact/hooks";
import type { Job } from "../../route.ts";
import { useLoaded } from "../api.ts";
import { OfQueue } from "../dead-letters/of-queue.tsx";
import { countText, number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Table } from "../parts/data.tsx";
import { Command, deadLettersPath, Listed, Panel, Time } from "../parts/panel.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { searchWord } from "../route.ts";

export function DeadLetters() {
  const { data, error, reload } = useLoaded<{ readonly queues: readonly QueueSummary[] }>(
    "/api/dead-letters",
  );
  const queue = searchWord("queue");
  const held = data?.queues.filter(({ deadLetters, archived }) => deadLetters + archived > 0);
  return (
    <>
      <Panel title="By queue" error={error} onRefresh={reload}>
        <Listed of={{ data: held, error }} waiting="Reading the queues…" empty="No dead letters.">
          {(queues) => (
            <Table
              columns={["Queue", "Dead letters", "Archived", "Since", "Reasons"]}
              classes={{ Queue: "queue", "Dead letters": "figure", Archived: "figure" }}
              rows={queues.map(({ queue: name, deadLetters, archived, oldest, reasons }) => [
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
        </Listed>
        <Command line="npx income-events dlq list" />
      </Panel>
      {queue !== "" && <OfQueue queue={queue} key={`${queue} ${searchWord("archive")}`} onChanged={reload} />}
      <RelayFailures />
      <Work />
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

/** Changes of the table that the relay did not deliver. */
export function RelayFailures() {
  const { data, error, reload } = useLoaded<{ readonly batches: number }>("/api/relay-failures");
  const batches = data?.batches ?? 0;
  return (
    <Panel title="Undelivered changes" error={error}>
      {data === undefined && error === undefined && <p class="quiet">Reading the bucket…</p>}
      {data !== undefined && batches === 0 && <p class="empty">No undelivered changes.</p>}
      <Action
        label={batches === 0 ? "Relay" : `Relay ${countText(batches, "batch", "batches")}`}
        path="/api/relay-failures/repair"
        isMain
        isOff={batches === 0}
        onDone={reload}
        says={({ batches: done, changes, kept }) =>
          `Relayed: ${countText(done, "batch", "batches")} with ${countText(changes, "change")}. Not relayed: ${String(kept)}.`
        }
      />
      <Command line="npx income-events repair --failures" />
    </Panel>
  );
}

const secondsBetweenLooks = 2;

/** The jobs that were started on this page, in any browser. They reappear when the page is opened again. */
export function Work() {
  const { data: jobs = [], error } = useLoaded<readonly Job[]>(
    "/api/jobs?of=dead-letters",
    secondsBetweenLooks,
  );
  if (jobs.length === 0 && error === undefined) return null;
  return (
    <Panel title="Actions" error={error}>
      <ul class="openable">
        {jobs.map((job) => (
          <One key={job.id} job={job} />
        ))}
      </ul>
      <p class="quiet">Actions continue when this page is closed, and are listed until the console ends.</p>
    </Panel>
  );
}

function One({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  const { what, state, startedAt, results, error, result } = job;
  const problem = error ?? result?.problem;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class={state === "failed" ? "tag tag-failed" : "tag"}>{state}</span> {what}{" "}
          <Time at={startedAt} /> {number(results.length)} {state === "running" ? "so far" : "in all"}
        </summary>
        {problem !== undefined && <p class="problem">{problem}</p>}
        {isOpen && results.length === 0 && <p class="empty">Nothing to do.</p>}
        {isOpen && results.length > 0 && (
          <VirtualList
            count={results.length}
            itemAt={(index) => results[index]}
            label="Results"
            row={({ id, result: outcome }) => (
              <span class="line">
                <span class="id">{visible(id)}</span> {visible(outcome)}
              </span>
            )}
          />
        )}
      </details>
    </li>
  );
}
