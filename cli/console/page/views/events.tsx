import { useState } from "preact/hooks";
import { get, useLoaded } from "../api.ts";
import { localTime, utcTime } from "../format.ts";
import { Command, Panel } from "../parts/panel.tsx";
import { Ticker } from "../parts/ticker.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { go, place, searchWord, setSearch } from "../route.ts";
import { EventPage } from "./event.tsx";

type Listed = {
  readonly id: string;
  readonly at: string;
  readonly kind: string;
  readonly outcome: string;
  readonly type?: string;
  readonly endpoint?: string;
  readonly reason?: string;
};
type History = {
  readonly from: "logs" | "table";
  readonly since: string;
  readonly events: readonly Listed[];
};

export function Events() {
  const id = place.value.path.split("/")[2];
  return id === undefined || id === "" ? <EventList /> : <EventPage id={decodeURIComponent(id)} key={id} />;
}

function EventList() {
  const [since, kind, outcome, text] = ["since", "kind", "outcome", "text"].map(searchWord);
  const whose = ["user", "account", "company-account"].find((name) => searchWord(name) !== "");
  const query = new URLSearchParams({ since: since || "1h", ...(whose && { [whose]: searchWord(whose) }) });
  const { data, error, reload } = useLoaded<History>(`/api/events?${query}`);
  const shown = (data?.events ?? []).filter(
    (event) =>
      (!kind || event.kind === kind) &&
      (!outcome || event.outcome === outcome) &&
      (!text || event.id.includes(text) || (event.type ?? "").includes(text) || event.endpoint === text),
  );
  const outcomes = [...new Set((data?.events ?? []).map((event) => event.outcome))].toSorted();
  return (
    <>
      <Search />
      <Panel title="Live">
        <Ticker most={8} />
      </Panel>
      <Panel
        title="History"
        error={error}
        aside={
          <button type="button" onClick={reload}>
            Look again
          </button>
        }
      >
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <Choice name="since" label="Since" value={since || "1h"} of={["15m", "1h", "6h", "24h", "7d"]} />
          <Choice
            name="kind"
            label="Kind"
            value={kind ?? ""}
            of={["", "users", "accounts", "endpoints", "company-accounts"]}
          />
          <Choice name="outcome" label="Outcome" value={outcome ?? ""} of={["", ...outcomes]} />
          <label>
            Text of the id, the type or the endpoint
            <input value={text} onInput={({ currentTarget }) => setSearch({ text: currentTarget.value })} />
          </label>
          {whose !== undefined && (
            <button type="button" onClick={() => setSearch({ [whose]: "" })}>
              Only of {whose} {searchWord(whose).slice(0, 8)}… ✕
            </button>
          )}
        </form>
        <p class="quiet">
          {data === undefined
            ? "The logs are being read…"
            : `${shown.length} of ${data.events.length} events, from the ${data.from === "logs" ? "functions' logs" : "table"}.`}
        </p>
        {data !== undefined && shown.length === 0 && (
          <p class="empty">
            No such event. Choose a longer time, or trigger one: npx income-events trigger account.connected
          </p>
        )}
        {shown.length > 0 && (
          <VirtualList
            items={shown}
            rowHeight={40}
            label="Events, the newest first"
            row={(event) => <Row event={event} whose={whose} />}
          />
        )}
        <Command
          line={`npx income-events events list --since ${since || "1h"}${kind ? ` --kind ${kind}` : ""}`}
        />
      </Panel>
    </>
  );
}

function Row({ event, whose }: { readonly event: Listed; readonly whose: string | undefined }) {
  const search = whose === undefined ? "" : `?${whose}=${encodeURIComponent(searchWord(whose))}`;
  return (
    <a class="row" href={`/events/${event.id}${search}`}>
      <time dateTime={event.at} title={utcTime(event.at)}>
        {localTime(event.at)}
      </time>
      <span class={`tag tag-${event.outcome}`}>{event.outcome}</span>
      <span>{event.type ?? event.kind}</span>
      <span class="id">{event.id.slice(0, 12)}</span>
      <span class="bad">{event.reason ?? ""}</span>
    </a>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly of: readonly string[];
};

function Choice({ name, label, value, of }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => setSearch({ [name]: currentTarget.value })}>
        {of.map((each) => (
          <option key={each} value={each} selected={each === value}>
            {each === "" ? "all" : each}
          </option>
        ))}
      </select>
    </label>
  );
}

type Found = { readonly kind: string; readonly id: string };

/** Takes any id: it goes to what it is of. */
function Search() {
  const [text, setText] = useState("");
  const [says, setSays] = useState("");
  const search = async (event: Event) => {
    event.preventDefault();
    const id = text.trim();
    setSays("Looking…");
    try {
      const { found } = await get<{ readonly found: readonly Found[] }>(
        `/api/find?id=${encodeURIComponent(id)}`,
      );
      const [first] = found;
      if (first === undefined) setSays(`Nothing of the last 7 days has ${id}.`);
      else go(first.kind === "event" ? `/events/${first.id}` : `/records?kind=${first.kind}&id=${first.id}`);
    } catch (error) {
      setSays(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="search" onSubmit={search}>
      <label>
        <span class="hidden">Search by any id</span>
        <input
          type="search"
          placeholder="Any id: event, user, account, message, request"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="main">
        Find
      </button>
      <p role="status">{says}</p>
    </form>
  );
}
