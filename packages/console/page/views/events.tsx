import type { HistoryRow, Refusal } from "@income-events/cli/events/event-history.ts";
import type { HistoryPage } from "../../history.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { useHistory } from "../history.ts";
import { Choice, Table } from "../parts/data.tsx";
import { Command, Listed, Panel, Time } from "../parts/panel.tsx";
import { eventPath, Search } from "../parts/search.tsx";
import { Ticker } from "../parts/ticker.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { address, place, searchWord, setSearch } from "../route.ts";
import { EventPage } from "./event.tsx";

export function Events() {
  const id = place.value.path.split("/")[2];
  return id === undefined || id === "" ? <EventList /> : <EventPage id={decodeURIComponent(id)} key={id} />;
}

const spans = ["15m", "1h", "6h", "24h", "7d"];
const kinds = ["users", "accounts", "endpoints", "company-accounts"];

function EventList() {
  const [since, until, kind, type, outcome, endpoint, text] = [
    ...["since", "until", "kind", "type", "outcome", "endpoint", "text"],
  ].map(searchWord);
  const whose = ["user", "account", "company-account"].find((name) => searchWord(name) !== "");
  const filter = { kind, type, outcome, endpoint, text };
  const period = { since: since || "1h", until, ...(whose && { [whose]: searchWord(whose) }) };
  const history = useHistory(period, filter);
  const { data, error } = history;
  const isAll = [kind, type, outcome, endpoint, text].every((word) => !word);
  return (
    <>
      <Search />
      <Panel title="Live">
        <Ticker most={8} />
      </Panel>
      <Panel title="History" error={error} onRefresh={history.reload}>
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <Choice name="since" label="Since" of={spans} fallback="1h" />
          <Choice name="until" label="Until" of={spans} none="now" />
          <Choice name="kind" label="Kind" of={kinds} />
          <Choice name="type" label="Type" of={data?.types ?? []} />
          <Choice name="outcome" label="Outcome" of={data?.outcomes ?? []} />
          <Choice name="endpoint" label="Endpoint" of={data?.endpoints ?? []} />
          <label>
            Text in the id or subject
            <input value={text} onInput={({ currentTarget }) => setSearch({ text: currentTarget.value })} />
          </label>
          {whose !== undefined && (
            <button type="button" onClick={() => setSearch({ [whose]: "" })}>
              Only {whose} {searchWord(whose).slice(0, 8)}… ✕
            </button>
          )}
        </form>
        <p class="quiet" role="status">
          {error === undefined &&
            progressText(data, whose === undefined ? "the functions' logs" : "the table")}
        </p>
        {data?.isComplete === true && data.count === 0 && (
          <p class="empty">
            No events found. {isAll ? "Choose a longer period" : "Choose a longer period or fewer filters"},
            or trigger one: npx income-events trigger account.connected
          </p>
        )}
        {data !== undefined && data.count > 0 && (
          <VirtualList
            count={data.count}
            itemAt={history.rowAt}
            onSeen={history.onSeen}
            label="Events, the newest first"
            isTall
            row={(event) => <Row event={event} whose={whose} />}
          />
        )}
        <Command line={commands.events({ ...period, ...filter })} />
      </Panel>
      <Refused since={period.since} />
    </>
  );
}

/** Webhooks that were refused and are therefore not events. */
function Refused({ since }: { readonly since: string }) {
  const loaded = useLoaded<readonly Refusal[]>(address("/api/refused", { since }));
  return (
    <Panel title="Refused webhooks" error={loaded.error}>
      <Listed of={loaded} waiting="Reading the receivers' logs…" empty="No refused webhooks in this period.">
        {(refusals) => (
          <Table
            label="Refused webhooks by reason and source"
            columns={["Reason", "Kind", "Source", "Count", "First", "Last"]}
            classes={{ Source: "id", Count: "figure" }}
            rows={refusals.map(({ reason, kind, source, count, first, last }) => [
              visible(reason),
              visible(kind),
              visible(source),
              number(count),
              <Time at={first} />,
              <Time at={last} />,
            ])}
          />
        )}
      </Listed>
    </Panel>
  );
}

function progressText(data: HistoryPage | undefined, source: string): string {
  if (data === undefined) return "Reading the history…";
  if (data.isComplete) return `${number(data.count)} of ${number(data.total)} events, from ${source}.`;
  const { done, total, lines } = data.progress;
  return `Read ${done} of ${total} functions' logs, ${number(lines)} lines so far…`;
}

function Row({ event, whose }: { readonly event: HistoryRow; readonly whose: string | undefined }) {
  const [kind = "", id = ""] = (event.subject ?? "").split("/");
  const subject = whose === undefined ? { kind, id } : { kind: whose, id: searchWord(whose) };
  return (
    <a class="row" href={eventPath(event.id, subject)}>
      <Time at={event.at} />
      <span class={`tag tag-${event.outcome}`}>{event.outcome}</span>
      <span class="row-type">
        {event.type ?? event.kind}
        {event.endpoint !== undefined && ` ${visible(event.endpoint)}`}
      </span>
      {event.reason === undefined ? (
        <span class="row-about id">{visible(event.subject ?? event.loggedAs ?? "")}</span>
      ) : (
        <span class="row-about bad" title={visible(event.reason)}>
          {visible(event.reason)}
        </span>
      )}
      <span class="row-id id">{event.id.slice(0, 12)}</span>
    </a>
  );
}
