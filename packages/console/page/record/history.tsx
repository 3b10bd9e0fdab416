import type { StateStep } from "@income-events/cli/records/state-history.ts";
import { useLoaded } from "../api.ts";
import { Panel, Time } from "../parts/panel.tsx";

type Props = { readonly kind: string; readonly id: string };
type Shown = { readonly steps: readonly StateStep[]; readonly isWhole: boolean };

/** How a subject came to its state, as far as stored events tell. */
export function History({ kind, id }: Props) {
  const { data, error } = useLoaded<Shown>(`/api/record/history?${new URLSearchParams({ kind, id })}`);
  return (
    <Panel title="History of its state" error={error}>
      {data === undefined && error === undefined && <p class="quiet">Reading its events…</p>}
      {data?.steps.length === 0 && <p class="empty">No event of it is stored any more.</p>}
      {data !== undefined && data.steps.length > 0 && (
        <ol class="plain-list" aria-label="What happened, the latest first">
          {data.steps.map(({ at, says, became, version, event }) => (
            <li key={at + (event?.id ?? "")}>
              <Time at={at} />{" "}
              {event === undefined ? (
                ""
              ) : (
                <a href={`/events/${event.id}?${kind}=${encodeURIComponent(id)}`}>{event.type}</a>
              )}{" "}
              {says !== undefined && <b>{says}</b>} <span class={`tag tag-${became}`}>{became}</span>{" "}
              {version !== undefined && `version ${version}`}
            </li>
          ))}
        </ol>
      )}
      {data?.isWhole === false && <p class="quiet">Only its latest events were read.</p>}
    </Panel>
  );
}
