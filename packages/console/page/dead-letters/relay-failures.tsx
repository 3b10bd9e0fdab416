import type { GivenUp } from "@income-events/cli/recovery/repair-failures.ts";
import { useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { searchWord, setSearch } from "../route.ts";

/** What the relay gave up on: changes of the table of which nothing has followed. */
export function RelayFailures() {
  const text = searchWord("batch");
  const { data, error, reload } = useLoaded<{ readonly batches: readonly GivenUp[] }>(
    `/api/relay-failures?${new URLSearchParams({ text })}`,
  );
  const batches = data?.batches ?? [];
  return (
    <Panel title="What the relay gave up on" error={error}>
      {data === undefined && error === undefined && <p class="quiet">The bucket is being read…</p>}
      {data !== undefined && batches.length === 0 && text === "" && (
        <p class="empty">
          Nothing: what follows from all that is stored has happened. Where it had given up, this page would
          relay it again.
        </p>
      )}
      {(batches.length > 0 || text !== "") && (
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Text of the batch's name, a day for example
            <input value={text} onChange={({ currentTarget }) => setSearch({ batch: currentTarget.value })} />
          </label>
        </form>
      )}
      {data !== undefined && batches.length === 0 && text !== "" && (
        <p class="empty">No batch has this in its name. Choose a shorter text, or none.</p>
      )}
      <Action
        label={labelOf(batches.length)}
        path="/api/relay-failures/repair"
        body={{ text }}
        isMain
        isOff={batches.length === 0}
        onDone={reload}
        says={({ batches: done, changes, kept }) =>
          `Relayed: ${String(done)} batches with ${String(changes)} changes. They stay: ${String(kept)}.`
        }
      />
      {batches.length > 0 && (
        <VirtualList
          count={batches.length}
          itemAt={(index) => batches[index]}
          onSeen={() => undefined}
          rowHeight={40}
          label="Batches of changes"
          row={({ key, since }) => (
            <span class="line">
              <Time at={since} /> <span class="id">{visible(key)}</span>
            </span>
          )}
        />
      )}
      <Command line="npx income-events repair --failures" />
    </Panel>
  );
}

function labelOf(batches: number): string {
  if (batches === 0) return "Relay again";
  return batches === 1 ? "Relay it again" : `Relay these ${number(batches)} again`;
}
