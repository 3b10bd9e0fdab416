import { useState } from "preact/hooks";
import type { Found, Hit } from "../../api/find.ts";
import { get, useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { go, searchWord, setSearch } from "../route.ts";
import { Panel, Time } from "./panel.tsx";

type Subject = { readonly kind: string; readonly id: string };

/** The path of an event's page; with the subject, a query finds the event. */
export function eventPath(id: string, subject: Subject | undefined): string {
  const path = `/events/${encodeURIComponent(id)}`;
  return subject === undefined || subject.id === ""
    ? path
    : `${path}?${new URLSearchParams({ [subject.kind]: subject.id })}`;
}

function subjectPath({ kind, id }: Subject): string {
  return `/records?${new URLSearchParams({ kind, id })}`;
}

function found(text: string, flags: Readonly<Record<string, string>> = {}): string {
  return `/api/find?${new URLSearchParams({ id: text, ...flags })}`;
}

/** Minimum length; the server refuses shorter texts. */
const shortestPart = 6;

/** Searches for an id or a part of one. Opens a single hit with exactly that id; otherwise lists the hits. */
export function Search() {
  const searched = searchWord("find");
  const [text, setText] = useState(searched);
  const [says, setSays] = useState("");
  const search = async (event: Event) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted.length < shortestPart) {
      setSays(`Write at least ${shortestPart} characters of the id.`);
      return;
    }
    setSays("Searching…");
    try {
      const [first, ...others] = (await get<Found>(found(wanted))).hits;
      // Ids of users and accounts are found in any letter case.
      const isWhole = first !== undefined && [wanted, wanted.toLowerCase()].includes(first.id);
      const path = isWhole && others.length === 0 ? pathOf(first) : undefined;
      setSays("");
      if (path === undefined) setSearch({ find: wanted });
      else go(path);
    } catch (error) {
      setSays(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <form class="search" onSubmit={search}>
        <label>
          <span class="hidden">Search by id</span>
          <input
            type="search"
            placeholder="Id, attribute, or part of one"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Find
        </button>
        <p role="status">{says}</p>
      </form>
      {searched !== "" && <Hits text={searched} key={searched} />}
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

function Hits({ text }: { readonly text: string }) {
  const [isScanning, setScanning] = useState(false);
  const { data, error } = useLoaded<Found>(found(text, isScanning ? { attributes: "yes" } : {}));
  const close = (
    <button type="button" onClick={() => setSearch({ find: "" })}>
      Close
    </button>
  );
  return (
    <Panel title="Search results" error={error} aside={close}>
      {data === undefined && error === undefined && <p class="quiet">Searching…</p>}
      {data?.hits.length === 0 && <Nothing text={text} hasAttributes={data.hasAttributes} />}
      {data?.hits.length === 0 && !data.hasAttributes && (
        <p>
          <button type="button" onClick={() => setScanning(true)}>
            Search users' attributes
          </button>{" "}
          <span class="quiet">Reads the whole table, which is billed.</span>
        </p>
      )}
      {data !== undefined && data.hits.length > 0 && (
        <ul class="plain-list hits" aria-label="Hits">
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

type NothingProps = { readonly text: string; readonly hasAttributes: boolean };

function Nothing({ text, hasAttributes }: NothingProps) {
  const places = `in an id ${hasAttributes ? "or attribute " : ""}of a user or account`;
  return (
    <p class="empty">
      {visible(text)} not found {places}, nor in the logs of the last 7 days.{" "}
      {eventId.test(text) && <a href={eventPath(text, undefined)}>Search the table for this event</a>}
    </p>
  );
}

function OneHit({ hit }: { readonly hit: Hit }) {
  const { type, id, detail, subject, at, events = [] } = hit;
  const path = pathOf(hit);
  return (
    <li>
      <span class="tag">{type}</span>{" "}
      {path === undefined ? (
        <span class="id">{visible(id)}</span>
      ) : (
        <a class="id" href={path}>
          {visible(id)}
        </a>
      )}{" "}
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
