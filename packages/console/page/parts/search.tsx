import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Found, Hit } from "../../api/find.ts";
import { useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { address, go, searchWord, setSearch } from "../route.ts";
import { Panel, Time } from "./panel.tsx";

type Subject = { readonly kind: string; readonly id: string };

/** The path of an event's page; with the subject, a query finds the event. */
export function eventPath(id: string, subject: Subject | undefined): string {
  return address(`/events/${encodeURIComponent(id)}`, subject ? { [subject.kind]: subject.id } : {});
}

/** The path of a user's or an account's page. */
export function subjectPath({ kind, id }: Subject): string {
  return address("/records", { kind, id });
}

/** Whether a key asks for the search, also before it is shown. */
export const isSearchWanted = signal(false);

/** Minimum length; the server refuses shorter texts. */
const shortestPart = 6;

/** Searches for an id or a part of one. Opens a single hit with exactly that id; otherwise lists the hits. */
export function Search() {
  const searched = searchWord("find");
  const [text, setText] = useState(searched);
  const [submitted, setSubmitted] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    if (isSearchWanted.value) input.current?.focus();
    isSearchWanted.value = false;
  });
  const search = (event: Event) => {
    event.preventDefault();
    setSubmitted(text.trim());
    setSearch({ find: text.trim() });
  };
  return (
    <>
      <form class="search" onSubmit={search}>
        <input
          ref={input}
          type="search"
          aria-label="Search by id"
          placeholder="Id, attribute, or part of one"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit" class="main">
          Find
        </button>
      </form>
      {searched !== "" && searched.length < shortestPart && (
        <p role="status">Write at least {shortestPart} characters of the id.</p>
      )}
      {searched.length >= shortestPart && (
        <Hits text={searched} isOpened={searched === submitted} key={searched} />
      )}
    </>
  );
}

function pathOf({ type, id, subject }: Hit): string | undefined {
  switch (type) {
    case "event":
      return eventPath(id, subject);
    case "message":
      return subject && subjectPath(subject);
    case "request":
      return undefined;
    default:
      return subjectPath({ kind: type, id });
  }
}

type HitsProps = { readonly text: string; readonly isOpened: boolean };

/** @param isOpened whether a single hit with exactly that id is opened: not if somebody came back to the list */
function Hits({ text, isOpened }: HitsProps) {
  const [isScanning, setScanning] = useState(false);
  const { data, error } = useLoaded<Found>(address("/api/find", { id: text, attributes: isScanning }));
  const [first, ...others] = data?.hits ?? [];
  // Ids of users and accounts are found in any letter case.
  const isWhole = first !== undefined && [text, text.toLowerCase()].includes(first.id);
  const path = isOpened && isWhole && others.length === 0 ? pathOf(first) : undefined;
  useEffect(() => {
    if (path !== undefined) go(path);
  }, [path]);
  const close = (
    <button type="button" onClick={() => setSearch({ find: "" })}>
      Close
    </button>
  );
  return (
    <Panel title="Search results" error={error} aside={close}>
      {data === undefined && error === undefined && <p class="quiet">Searching…</p>}
      {data?.hits.length === 0 && (
        <p class="empty">
          {visible(text)} not found in an id {data.hasAttributes && "or attribute "}of a user or account, nor
          in the logs of the last 7 days.{" "}
          {eventId.test(text) && <a href={eventPath(text, undefined)}>Search the table for this event</a>}
        </p>
      )}
      {data?.hits.length === 0 && !data.hasAttributes && (
        <p>
          <button type="button" onClick={() => setScanning(true)}>
            Search users' attributes
          </button>{" "}
          <span class="quiet">Reads the whole table, which is billed.</span>
        </p>
      )}
      {data !== undefined && data.hits.length > 0 && (
        <ul class="openable" aria-label="Hits">
          {data.hits.map((hit) => (
            <OneHit key={hit.type + hit.id} hit={hit} />
          ))}
        </ul>
      )}
      {data?.hasMore === true && (
        <p class="quiet">The latest {number(data.hits.length)} are shown. Write more characters of the id.</p>
      )}
    </Panel>
  );
}

/** Ids of events have 43 characters. */
const eventId = /^[\w-]{43}$/;

function OneHit({ hit }: { readonly hit: Hit }) {
  const { type, id, detail, subject, at, events = [] } = hit;
  const path = pathOf(hit);
  return (
    <li>
      <span class="tag">{type}</span>{" "}
      <a class="id" {...(path !== undefined && { href: path })}>
        {visible(id)}
      </a>{" "}
      {detail !== undefined && visible(detail)}{" "}
      {subject !== undefined && (
        <span class="quiet">
          of {subject.kind} <span class="id">{visible(subject.id)}</span>
        </span>
      )}{" "}
      {at !== undefined && <Time at={at} />}
      {events.length > 0 && (
        <p>
          {events.length === 1 ? "Event" : `${number(events.length)} events`}:{" "}
          {events.slice(0, maxEvents).map((event) => (
            <>
              <a key={event.id} class="id" href={eventPath(event.id, event.subject)}>
                {event.id}
              </a>{" "}
            </>
          ))}
          {events.length > maxEvents && "…"}
        </p>
      )}
    </li>
  );
}

const maxEvents = 10;
