import { visible } from "../format.ts";
import { happenings, hasMissed, tailState } from "../live.ts";
import { Table } from "./data.tsx";
import { Time } from "./panel.tsx";

export function Ticker({ most }: { readonly most: number }) {
  const shown = happenings.value.slice(0, most);
  const missed = hasMissed.value && (
    <p class="quiet">
      Some events are missing here: <a href="/events">open the history</a>.
    </p>
  );
  if (shown.length === 0)
    return (
      <>
        {missed}
        <p class="empty">
          {tailState.value.reason !== undefined
            ? `Can't follow the table's stream: ${tailState.value.reason}`
            : "No events since this page was opened. Trigger one on the Sandbox page, or: npx income-events trigger account.connected"}
        </p>
      </>
    );
  return (
    <>
      {missed}
      <Table
        label="Latest events, newest first"
        columns={["Time", "Step", "Type", "Subject"]}
        isPlain
        classes={{ Subject: "id" }}
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
