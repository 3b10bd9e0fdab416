import type { EachResult } from "@income-events/cli/dead-letters/purge.ts";
import { useState } from "preact/hooks";
import type { Job } from "../../jobs.ts";
import { useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { Panel, Time } from "../parts/panel.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";

const secondsBetweenLooks = 2;

/** What was begun on this page, by whichever browser: it is there again when the page was closed meanwhile. */
export function Work({ of }: { readonly of: string }) {
  const { data, error } = useLoaded<{ readonly jobs: readonly Job[] }>(
    `/api/jobs?of=${encodeURIComponent(of)}`,
    secondsBetweenLooks,
  );
  const jobs = data?.jobs ?? [];
  if (jobs.length === 0 && error === undefined) return null;
  return (
    <Panel title="What was done" error={error}>
      <ul class="openable">
        {jobs.map((job) => (
          <One key={job.id} job={job} />
        ))}
      </ul>
      <p class="quiet">It goes on when this page is closed, and is kept until the console ends.</p>
    </Panel>
  );
}

function One({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  const { id, what, state, startedAt, count, error, result } = job;
  const problem = error ?? result?.problem;
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class={state === "failed" ? "tag tag-failed" : "tag"}>{state}</span> {what}{" "}
          <Time at={startedAt} /> {number(count)} {state === "running" ? "so far" : "in all"}
        </summary>
        {problem !== undefined && <p class="problem">{problem}</p>}
        {isOpen && <Each id={id} isRunning={state === "running"} />}
      </details>
    </li>
  );
}

function Each({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }) {
  const { data, error } = useLoaded<{ readonly results: readonly EachResult[] }>(
    `/api/job/results?id=${id}`,
    isRunning ? secondsBetweenLooks : 0,
  );
  const results = data?.results ?? [];
  if (error !== undefined) return <p class="problem">{error}</p>;
  if (data !== undefined && results.length === 0) return <p class="empty">There was nothing to do it to.</p>;
  return (
    <VirtualList
      count={results.length}
      itemAt={(index) => results[index]}
      onSeen={() => undefined}
      rowHeight={40}
      label="What became of each"
      row={({ id: one, result }) => (
        <span class="line">
          <span class="id">{visible(one)}</span> {visible(result)}
        </span>
      )}
    />
  );
}
