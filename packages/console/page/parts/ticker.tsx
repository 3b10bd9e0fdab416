import type { Happening } from "@income-events/cli/events/event-tail.ts";
import { localClock, utcTime, visible } from "../format.ts";
import { happenings, hasMissed, tailState } from "../live.ts";

/** What has just happened, the newest first. */
export function Ticker({ most }: { readonly most: number }) {
  const shown = happenings.value.slice(0, most);
  const missed = hasMissed.value && (
    <p class="quiet">
      More happened while this page was away than is shown here: <a href="/events">the history has it</a>.
    </p>
  );
  if (shown.length === 0)
    return (
      <>
        {missed}
        <p class="empty">
          {tailState.value.reason !== undefined
            ? `The table's stream can't be followed: ${tailState.value.reason}`
            : "Nothing has happened since this page was opened. On this machine, trigger an event under Trouble, or: npx income-events trigger account.connected"}
        </p>
      </>
    );
  return (
    <>
      {missed}
      <table class="ticker">
        <caption class="hidden">What has just happened, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Type</th>
            <th scope="col">Of whom</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ number, happening }) => (
            <Row key={number} happening={happening} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ happening: { at, what, type, subject } }: { readonly happening: Happening }) {
  return (
    <tr>
      <td>
        <time dateTime={at} title={utcTime(at)}>
          {localClock(at)}
        </time>
      </td>
      <td>
        <span class={`tag tag-${what.split(" ")[0]}`}>{what}</span>
      </td>
      <td>{type ?? ""}</td>
      <td class="id">{visible(subject)}</td>
    </tr>
  );
}
