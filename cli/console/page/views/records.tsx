import { useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { Payload } from "../parts/payload.tsx";
import { go, searchWord } from "../route.ts";
import { Select } from "./trouble.tsx";

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
  readonly documents: readonly {
    readonly endpoint: string;
    readonly range?: { readonly start: string; readonly end: string };
    readonly asOf: string;
    readonly changedAt?: string;
    readonly bytes?: number;
  }[];
};
type Data = { readonly data: readonly { readonly data: unknown }[] };

const kinds = ["user", "account", "company-account"];

export function Records() {
  const [kind, id] = [searchWord("kind") || "user", searchWord("id")];
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
  const { state, accounts, documents } = data;
  return (
    <>
      <Panel title={data.subject} error={error}>
        {state === null ? <p class="quiet">No state: only documents are known.</p> : <Facts state={state} />}
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
      {documents.length > 0 && (
        <Panel title="Documents">
          <ul class="letters">
            {[...new Set(documents.map(({ endpoint }) => endpoint))].map((endpoint) => (
              <Documents key={endpoint} kind={kind} id={id} endpoint={endpoint} of={documents} />
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Erase">
        <Action
          label={`Erase this ${kind}`}
          path="/api/erase"
          body={{ kind, id }}
          typed={id}
          warning={
            <p class="bad">
              Records, documents and dead letters{kind === "user" ? ", and those of all accounts," : ""} go
              for good.
            </p>
          }
          onDone={reload}
          says={({ subjects }) => `Erased: ${String(subjects)}. A second pass follows by itself.`}
        />
      </Panel>
    </>
  );
}

function Facts({ state }: { readonly state: State }) {
  return (
    <dl class="facts">
      <dt>is</dt>
      <dd>{stateWords(state)}</dd>
      <dt>version</dt>
      <dd>{number(state.version)}</dd>
      <dt>as of</dt>
      <dd>
        <Time at={state.asOf} />
      </dd>
      {state.userId !== undefined && (
        <>
          <dt>user</dt>
          <dd>
            <a class="id" href={`/records?kind=user&id=${encodeURIComponent(state.userId)}`}>
              {state.userId}
            </a>
          </dd>
        </>
      )}
      <dt>latest</dt>
      <dd>
        {state.latest.id === undefined ? (
          state.latest.cause
        ) : (
          <a href={`/events/${state.latest.id}`}>
            {state.latest.type} {state.latest.outcome}
          </a>
        )}
      </dd>
    </dl>
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

type DocumentProps = {
  readonly kind: string;
  readonly id: string;
  readonly endpoint: string;
  readonly of: Shown["documents"];
};

function Documents({ kind, id, endpoint, of }: DocumentProps) {
  const [isOpen, setOpen] = useState(false);
  const [revealed, setRevealed] = useState<unknown>(undefined);
  const query = new URLSearchParams({ kind, id, endpoint });
  const { data, error } = useLoaded<Data>(isOpen ? `/api/record?${query}` : undefined);
  const own = of.filter((each) => each.endpoint === endpoint);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <b>{endpoint}</b>{" "}
          {own.map(({ range, asOf, bytes }) => (
            <span key={asOf + (range?.start ?? "")}>
              {range === undefined ? "" : `${range.start}–${range.end}, `}
              {bytes === undefined ? "the provider has none" : `${number(bytes)} bytes`}, read{" "}
              <Time at={asOf} />{" "}
            </span>
          ))}
        </summary>
        {error !== undefined && <p class="problem">{error}</p>}
        {data !== undefined && (
          <Payload
            value={revealed ?? data.data.map((each) => each.data)}
            isRevealed={revealed !== undefined}
            path="/api/record/reveal"
            body={{ kind, id, endpoint }}
            onRevealed={({ data: all }) => setRevealed(all)}
          />
        )}
      </details>
    </li>
  );
}
