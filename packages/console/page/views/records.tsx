import type { DocumentHistory } from "@income-events/cli/documents/document-list.ts";
import type { HistoryRow } from "@income-events/cli/events/event-history.ts";
import type { ShownRecord, ShownState } from "@income-events/cli/records/record-view.ts";
import { useState } from "preact/hooks";
import type { LegalHold } from "../../../../adapters/dynamodb/legal-holds.ts";
import type { Subject } from "../../../../domain/event/subjects.ts";
import type { SubjectState } from "../../api/records.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { DocumentPage, Versions } from "../document/document.tsx";
import { number, visible } from "../format.ts";
import { useHistory } from "../history.ts";
import { Action } from "../parts/action.tsx";
import { type Fact, Facts, Table } from "../parts/data.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { useMasked } from "../parts/payload.tsx";
import { eventPath, Search, subjectPath } from "../parts/search.tsx";
import { address, place, searchWord } from "../route.ts";

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
  const { data: states = {}, control } = useMasked<Readonly<Record<string, SubjectState>>>(
    "/api/states",
    recent.length === 0 ? undefined : { subject: recent.map(([subject]) => subject) },
  );
  const hasAttributes = Object.values(states).some(({ attributes }) => attributes !== undefined);
  return (
    <Panel title="Recent users and accounts" error={error} onRefresh={reload}>
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
            ...(hasAttributes ? ["Attributes"] : []),
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
              <a href={subjectPath({ kind: whose, id: of })}>
                {whose} <span class="id">{visible(of)}</span>
              </a>,
              ...(hasAttributes ? [attributesText(state?.attributes)] : []),
              state === undefined ? "" : stateWords(state),
              <a href={eventPath(id, { kind: whose, id: of })}>{type ?? kind}</a>,
              <span class={`tag tag-${outcome}`}>{outcome}</span>,
              <Time at={at} />,
            ];
          })}
        />
      )}
      {hasAttributes && control}
    </Panel>
  );
}

function Record({ kind, id }: Whose) {
  const { data, error, reload, control } = useMasked<ShownRecord>("/api/record", { kind, id });
  if (data === undefined) return <Panel title={`${kind} ${id}`} error={error} />;
  const { state, accounts } = data;
  const attributes = Object.entries(data.attributes ?? {}).map(
    ([name, value]) => [name, visible(value)] as const,
  );
  return (
    <>
      <Panel title={data.subject} error={error}>
        {state === null && <p class="quiet">No state, only documents.</p>}
        <Facts of={[...(state === null ? [] : factsOf(state, id)), ...attributes]} />
        {attributes.length > 0 && control}
        <p>
          <a href={address("/events", { [kind]: id, since: "30d" })}>Events</a>
        </p>
        <Command line={commands.record({ kind, id })} />
      </Panel>
      {accounts.length > 0 && (
        <Panel title="Accounts">
          <ul class="plain-list">
            {accounts.map((account) => (
              <li key={account.id}>
                <a class="id" href={subjectPath({ kind: "account", id: account.id })}>
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

function factsOf(known: ShownState, id: string): readonly Fact[] {
  const { version, asOf, userId, latest } = known;
  const user = userId !== undefined && userId !== id && (
    <a class="id" href={subjectPath({ kind: "user", id: userId })}>
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
function attributesText(attributes: SubjectState["attributes"] = {}): string {
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
  const { data, error } = useLoaded<readonly DocumentHistory[]>(address("/api/documents", { kind, id }));
  if (data?.length === 0) return null;
  return (
    <Panel title="Documents" error={error}>
      {data === undefined && error === undefined && <p class="quiet">Reading the documents…</p>}
      <ul class="openable">
        {data?.map((document) => {
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
  const { data, error, reload } = useLoaded<readonly Hold[]>(address("/api/record/holds", { kind, id }));
  const [reason, setReason] = useState("");
  const holds = data ?? [];
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
