import { useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import { DocumentPage } from "../document/document-page.tsx";
import { number } from "../format.ts";
import { Facts, Select } from "../parts/data.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { Documents } from "../record/documents.tsx";
import { Erase } from "../record/erase.tsx";
import { History } from "../record/history.tsx";
import { go, place, searchWord } from "../route.ts";

type State = {
  readonly version: number;
  readonly connected?: boolean;
  readonly deleted: boolean;
  readonly unconfirmed: boolean;
  readonly asOf?: string;
  readonly userId?: string;
  readonly latest: {
    readonly cause: string;
    readonly id?: string;
    readonly type?: string;
    readonly outcome?: string;
  };
};
type Shown = {
  readonly subject: string;
  readonly state: State | null;
  readonly accounts: readonly { readonly id: string; readonly state: State | null }[];
};

const kinds = ["user", "account", "company-account"];

export function Records() {
  const [kind, id] = [searchWord("kind") || "user", searchWord("id")];
  if (place.value.path === "/records/document") return <DocumentPage />;
  return (
    <>
      <Finder kind={kind} id={id} key={kind + id} />
      {id === "" ? (
        <p class="empty">Paste the id of a user or an account. An event's page links to both.</p>
      ) : (
        <Record kind={kind} id={id} key={`of ${kind} ${id}`} />
      )}
    </>
  );
}

function Finder(given: { readonly kind: string; readonly id: string }) {
  const [kind, setKind] = useState(given.kind);
  const [id, setId] = useState(given.id);
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(`/records?kind=${kind}&id=${encodeURIComponent(id.trim())}`);
      }}
    >
      <Select label="Whose" value={kind} of={kinds} onChange={setKind} />
      <label>
        <span class="hidden">Id</span>
        <input
          type="search"
          placeholder="Id"
          value={id}
          onInput={({ currentTarget }) => setId(currentTarget.value)}
        />
      </label>
      <button type="submit" class="main">
        Show
      </button>
    </form>
  );
}

function Record({ kind, id }: { readonly kind: string; readonly id: string }) {
  const { data, error, reload } = useLoaded<Shown>(`/api/record?${new URLSearchParams({ kind, id })}`);
  if (data === undefined) return <Panel title={`${kind} ${id}`} error={error} />;
  const { state, accounts } = data;
  return (
    <>
      <Panel title={data.subject} error={error}>
        {state === null ? <p class="quiet">No state: only documents are known.</p> : <Known state={state} />}
        <p>
          <a href={`/events?${kind}=${encodeURIComponent(id)}&since=7d`}>Its events</a>
        </p>
        <Command line={`npx income-events records show ${kind} ${id}`} />
      </Panel>
      {accounts.length > 0 && (
        <Panel title="Accounts">
          <ul class="plain-list">
            {accounts.map((account) => (
              <li key={account.id}>
                <a class="id" href={`/records?kind=account&id=${encodeURIComponent(account.id)}`}>
                  {account.id}
                </a>{" "}
                {stateWords(account.state)}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <History kind={kind} id={id} />
      <Documents kind={kind} id={id} />
      <Erase kind={kind} id={id} onDone={reload} />
    </>
  );
}

function Known({ state: known }: { readonly state: State }) {
  const { version, asOf, userId, latest } = known;
  const user = userId && (
    <a class="id" href={`/records?kind=user&id=${encodeURIComponent(userId)}`}>
      {userId}
    </a>
  );
  const last = latest.id && (
    <a href={`/events/${latest.id}`}>
      {latest.type} {latest.outcome}
    </a>
  );
  return (
    <Facts
      of={[
        ["is", stateWords(known)],
        ["version", number(version)],
        ["as of", <Time at={asOf} />],
        ["user", user],
        ["latest", last ?? latest.cause],
      ]}
    />
  );
}

function stateWords(state: State | null): string {
  if (state === null) return "not known";
  const words = [
    ...(state.connected === undefined ? [] : [state.connected ? "connected" : "not connected"]),
    ...(state.deleted ? ["deleted"] : []),
    ...(state.unconfirmed ? ["unconfirmed: the provider is asked"] : []),
  ];
  return words.join(", ") || "known";
}
