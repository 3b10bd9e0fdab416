import type { ProviderTopic, ProviderTurn } from "@income-events/cli/provider/provider-history.ts";
import { useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { searchWord, setSearch } from "../route.ts";
import { Select, Table } from "./data.tsx";
import { Command, Panel, Time } from "./panel.tsx";

const titles: Readonly<Record<ProviderTopic, string>> = {
  breaker: "History of the breaker",
  token: "History of the token",
  reconciliation: "What reconciliation found",
  registration: "History of the registrations",
};
const empty: Readonly<Record<ProviderTopic, string>> = {
  breaker: "It was never found down in this time: nothing is to be done.",
  token: "Nothing became of it in this time. Whether it can be refreshed, Refresh now shows.",
  reconciliation: "None has ended in this time. Begin one above.",
  registration: "Nothing was registered in this time. Register them here does it.",
};
const words: Readonly<Record<string, string>> = {
  PROVIDER_DOWN: "open: found down",
  PROVIDER_BACK: "closed: it answers again",
  TOKEN_REFRESHED: "refreshed",
  TOKEN_REFUSED: "its refresh was refused",
  TOKEN_MISSING: "none is set",
  RECONCILED: "compared to the end",
  RECONCILIATION_FAILED: "failed",
  RECONCILIATION_PAUSED: "paused: the next tick goes on",
  WEBHOOKS_REGISTERED: "registered",
};

/** What functions have logged of the provider. */
export function ProviderHistory() {
  const since = searchWord("since") || "24h";
  const { data, error, reload } = useLoaded<{ readonly turns: readonly ProviderTurn[] }>(
    `/api/provider/history?since=${since}`,
  );
  const of = (topic: ProviderTopic) => data?.turns.filter((turn) => turn.topic === topic);
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Select
          label="History since"
          value={since}
          of={["1h", "24h", "7d", "30d"]}
          onChange={(each) => setSearch({ since: each })}
        />
        <button type="button" onClick={reload}>
          Look again
        </button>
      </form>
      <div class="columns">
        {(["breaker", "token", "registration"] as const).map((topic) => (
          <Turns key={topic} topic={topic} turns={of(topic)} error={error} />
        ))}
      </div>
      <Findings turns={of("reconciliation")} error={error} />
      <Command line={`npx income-events status --section provider --since ${since}`} />
    </>
  );
}

type TurnsProps = {
  readonly turns: readonly ProviderTurn[] | undefined;
  readonly error: string | undefined;
};

function Turns({ topic, turns, error }: TurnsProps & { readonly topic: ProviderTopic }) {
  return (
    <Panel title={titles[topic]} error={error}>
      {turns === undefined && error === undefined && <p class="quiet">The logs are being read…</p>}
      {turns?.length === 0 && <p class="empty">{empty[topic]}</p>}
      <ol class="log">
        {turns?.map(({ at, code, by, reason }, index) => (
          <li key={at + index}>
            <Time at={at} /> <b>{words[code] ?? code}</b> by {by}
            {reason === undefined ? "" : `: ${visible(reason)}`}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function whatOf({ code, reason }: ProviderTurn): string {
  return `${words[code] ?? code}${reason === undefined ? "" : `: ${visible(reason)}`}`;
}

const counts = ["listed", "missing", "conflicting", "orphaned", "deleted", "reread", "skipped"];

function Findings({ turns, error }: TurnsProps) {
  return (
    <Panel title={titles.reconciliation} error={error}>
      {turns === undefined && error === undefined && <p class="quiet">The logs are being read…</p>}
      {turns?.length === 0 && <p class="empty">{empty.reconciliation}</p>}
      {turns !== undefined && turns.length > 0 && (
        <Table
          label="Reconciliations"
          columns={["Ended", "How", ...counts]}
          classes={Object.fromEntries(counts.map((name) => [name, "figure"]))}
          rows={turns.map((turn) => [
            <Time at={turn.at} />,
            <span class={turn.code === "RECONCILIATION_FAILED" ? "bad" : ""}>{whatOf(turn)}</span>,
            ...counts.map((name) => (turn.counts[name] === undefined ? "—" : number(turn.counts[name]))),
          ])}
        />
      )}
    </Panel>
  );
}
