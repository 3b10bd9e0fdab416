import { visible } from "../format.ts";
import { happenings, hasMissed, tailState } from "../live.ts";
import { Table } from "./data.tsx";
import { Time } from "./panel.tsx";

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
      <Table
        caption="What has just happened, the newest first"
        columns={["Time", "What", "Type", "Of whom"]}
        classes={{ "Of whom": "id" }}
        rows={shown.map(({ happening: { at, what, type, subject } }) => [
          <Time at={at} />,
          <span class={`tag tag-${what.split(" ")[0]}`}>{what}</span>,
          type ?? "",
          visible(subject),
        ])}
      />
    </>
  );
}
