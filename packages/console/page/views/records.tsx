import type { DocumentHistory } from "@income-events/cli/documents/document-list.ts";
import type { HistoryRow } from "@income-events/cli/events/event-history.ts";
import type { ShownRecord, ShownState } from "@income-events/cli/records/record-view.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { LegalHold } from "../../../../adapters/dynamodb/legal-holds.ts";
import type { Subject } from "../../../../domain/event/subjects.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { DocumentPage, Versions } from "../document/document.tsx";
import { number, visible } from "../format.ts";
import { useHistory } from "../history.ts";
import { Action } from "../parts/action.tsx";
import { Facts, Table } from "../parts/data.tsx";
import { Command, Panel, Refresh, Time } from "../parts/panel.tsx";
import { Reveal } from "../parts/payload.tsx";
import { eventPath, Search } from "../parts/search.tsx";
import { place, searchWord } from "../route.ts";

/** The operator's attributes of a user, from the setting `mapping.users.attributes`. */
type Attributes = Readonly<Record<string, string>>;

/** A state in a list. */
type SubjectState = Partial<Pick<ShownState, "connected" | "deleted" | "unconfirmed">> & {
  readonly attributes?: Attributes;
};

type Whose = { readonly kind: string; readonly id: string };

export function Records() {
  const [kind, id] = [searchWord("kind") || "user", searchWord("id")];
  if (place.value.path === "/records/document") return <DocumentPage />;
  return (
    <>
      <Search />
      {id === "" ? <RecentSubjects /> : <Record kind={kind} id={id} key={`of ${kind} ${id}`} />}
    </>
  );
}

const maxRecent = 50;

/** Users with events in the last day, the latest first. */
function RecentSubjects() {
  const { data, error, reload } = useHistory({ since: "24h" }, {});
  const latest = new Map<string, HistoryRow>();
  for (const event of data?.events ?? [])
    if (event.subject !== undefined && !latest.has(event.subject)) latest.set(event.subject, event);
  const recent = [...latest].slice(0, maxRecent);
  const query = new URLSearchParams(recent.map(([subject]) => ["subject", subject]));
  const known = useLoaded<{ readonly states: Readonly<Record<string, SubjectState>> }>(
    recent.length === 0 ? undefined : `/api/states?${query}`,
  );
  const states = known.data?.states ?? {};
  const attributed = Object.keys(states).filter((subject) => states[subject]?.attributes !== undefined);
  const revealed = useRevealed(attributed);
  return (
    <Panel title="Recent users and accounts" error={error} aside={<Refresh onClick={reload} />}>
      {data?.isComplete !== true && error === undefined && (
        <p class="quiet">Reading the functions' logs of the last 24 hours…</p>
      )}
      {data?.isComplete === true && recent.length === 0 && (
        <p class="empty">No events in the last 24 hours.</p>
      )}
      {recent.length > 0 && (
        <Table
          label="Users and accounts with an event in the last 24 hours, the latest first"
          columns={[
            "Subject",
            ...(attributed.length > 0 ? ["Attributes"] : []),
            "State",
            "Last event",
            "Outcome",
            "Time",
          ]}
          classes={{ Attributes: "attributes" }}
          isPlain
          rows={recent.map(([subject, { id, type, kind, outcome, at }]) => {
            const [whose = "", of = ""] = subject.split("/");
            const state = states[subject];
            return [
              <a href={`/records?${new URLSearchParams({ kind: whose, id: of })}`}>
                {whose} <span class="id">{visible(of)}</span>
              </a>,
              ...(attributed.length > 0 ? [attributesText(revealed.of(subject) ?? state?.attributes)] : []),
              state === undefined ? "" : stateWords(state),
              <a href={eventPath(id, { kind: whose, id: of })}>{type ?? kind}</a>,
              <span class={`tag tag-${outcome}`}>{outcome}</span>,
              <Time at={at} />,
            ];
          })}
        />
      )}
      {attributed.length > 0 && revealed.control}
    </Panel>
  );
}

/** A control that shows the attributes of subjects, named as `user/ID`, and hides them again. */
function useRevealed(subjects: readonly string[]) {
  const [shown, setShown] = useState<Readonly<Record<string, Attributes>>>();
  const control = (
    <Reveal
      isRevealed={shown !== undefined}
      path="/api/attributes/reveal"
      body={{ subjects }}
      onRevealed={({ attributes }) => setShown(isAttributes(attributes) ? attributes : {})}
      onHidden={() => setShown(undefined)}
    />
  );
  return { control, of: (subject: string) => shown?.[subject] };
}

function isAttributes(value: unknown): value is Readonly<Record<string, Attributes>> {
  return typeof value === "object" && value !== null;
}

function Record({ kind, id }: Whose) {
  const { data, error, reload } = useLoaded<ShownRecord>(`/api/record?${new URLSearchParams({ kind, id })}`);
  const subject = `${kind}/${id}`;
  const revealed = useRevealed([subject]);
  if (data === undefined) return <Panel title={`${kind} ${id}`} error={error} />;
  const { state, accounts } = data;
  const attributes = Object.entries(revealed.of(subject) ?? data.attributes ?? {}).map(
    ([name, value]) => [name, visible(value)] as const,
  );
  return (
    <>
      <Panel title={data.subject} error={error}>
        {state === null && <p class="quiet">No state, only documents.</p>}
        <Facts of={[...(state === null ? [] : factsOf(state, id)), ...attributes]} />
        {attributes.length > 0 && revealed.control}
        <p>
          <a href={`/events?${kind}=${encodeURIComponent(id)}&since=30d`}>Events</a>
        </p>
        <Command line={commands.record({ kind, id })} />
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
      <Documents kind={kind} id={id} />
      <Erase kind={kind} id={id} onDone={reload} />
    </>
  );
}

function factsOf(known: ShownState, id: string): readonly (readonly [name: string, is: ComponentChildren])[] {
  const { version, asOf, userId, latest } = known;
  const user = userId !== undefined && userId !== id && (
    <a class="id" href={`/records?kind=user&id=${encodeURIComponent(userId)}`}>
      {userId}
    </a>
  );
  const last = latest.cause === "event" && (
    <a href={`/events/${latest.id}`}>
      {latest.type} {latest.outcome}
    </a>
  );
  return [
    ["state", stateWords(known)],
    ["version", number(version)],
    ["as of", asOf && <Time at={asOf} />],
    ["user", user || undefined],
    ["latest", last || latest.cause],
  ];
}

/** For example `loanId L-1001, agent A. Example`. */
function attributesText(attributes: Attributes = {}): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${name} ${visible(value)}`)
    .join(", ");
}

function stateWords(state: Omit<SubjectState, "attributes"> | null): string {
  if (state === null) return "no state";
  const words = [
    ...(state.connected === undefined ? [] : [state.connected ? "connected" : "not connected"]),
    ...(state.deleted === true ? ["deleted"] : []),
    ...(state.unconfirmed === true ? ["unconfirmed: being checked at the provider"] : []),
  ];
  return words.join(", ") || "stored";
}

/** A subject's documents by endpoint, with stored versions; a user's include those of its accounts. */
function Documents({ kind, id }: Whose) {
  const { data, error } = useLoaded<{ readonly documents: readonly DocumentHistory[] }>(
    `/api/documents?${new URLSearchParams({ kind, id })}`,
  );
  if (data?.documents.length === 0) return null;
  return (
    <Panel title="Documents" error={error}>
      {data === undefined && error === undefined && <p class="quiet">Reading the documents…</p>}
      <ul class="openable">
        {(data?.documents ?? []).map((document) => {
          const { subject, endpoint, dates = "", versions } = document;
          const others = versions.length - 1;
          return (
            <li key={subject.id + endpoint + dates}>
              <details>
                <summary>
                  <b>{endpoint}</b> {dates.replace("..", "–")}{" "}
                  {subject.id !== id && <span class="id">{subject.id}</span>}{" "}
                  {others > 0 && (
                    <span class="tag">{others === 1 ? "1 older version" : `${others} older versions`}</span>
                  )}
                </summary>
                <Versions of={document} />
              </details>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

type Hold = LegalHold & { readonly subject: Subject };

/** Erases a subject after its id is typed. Under a legal hold it also needs a reason for the audit trail. */
function Erase({ kind, id, onDone }: Whose & { readonly onDone: () => void }) {
  const { data, error, reload } = useLoaded<{ readonly holds: readonly Hold[] }>(
    `/api/record/holds?${new URLSearchParams({ kind, id })}`,
  );
  const [reason, setReason] = useState("");
  const holds = data?.holds ?? [];
  const isHeld = holds.length > 0;
  return (
    <Panel title="Erase" error={error}>
      {holds.map(({ subject, at, reason: why }) => (
        <p key={subject.id} class="problem">
          A legal hold is on the {subject.kind} <span class="id">{subject.id}</span> since <Time at={at} />:{" "}
          {visible(why)}
        </p>
      ))}
      {isHeld && (
        <label class="field">
          Reason for the audit trail, without ids
          <input
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
            autocomplete="off"
          />
        </label>
      )}
      <Action
        label={isHeld ? `Erase this ${kind} despite the hold` : `Erase this ${kind}`}
        path="/api/erase"
        body={{ kind, id, ...(isHeld && { despiteHold: reason }) }}
        typed={id}
        isOff={(data === undefined && error === undefined) || (isHeld && reason.trim() === "")}
        warning={
          <p class="bad">
            Permanently deletes records, documents and dead letters
            {kind === "user" ? ", also of all accounts" : ""}.
          </p>
        }
        onDone={() => {
          reload();
          onDone();
        }}
        says={({ subjects }) => `Erased: ${String(subjects)}. A second pass follows automatically.`}
      />
    </Panel>
  );
}
