import { visible } from "../format.ts";
import { happenings, hasMissed, tailState } from "../live.ts";
import { Table } from "./data.tsx";
import { Listed, Time } from "./panel.tsx";

export function Ticker({ most }: { readonly most: number }) {
  const { reason } = tailState.value;
  const empty =
    reason === undefined
      ? "No events since this page was opened. Trigger one on the Sandbox page, or: npx income-events trigger account.connected"
      : `Can't follow the table's stream: ${reason}`;
  return (
    <>
      {hasMissed.value && (
        <p class="quiet">
          Some events are missing here: <a href="/events">open the history</a>.
        </p>
      )}
      <Listed of={{ data: happenings.value.slice(0, most) }} empty={empty}>
        {(shown) => (
          <Table
            label="Latest events, newest first"
            columns={["Time", "Step", "Type", "Subject"]}
            isPlain
            classes={{ Subject: "id" }}
            rows={shown.map(({ at, what, type, subject }) => [
              <Time at={at} />,
              <span class={`tag tag-${what.split(" ")[0]}`}>{what}</span>,
              type ?? "",
              visible(subject),
            ])}
          />
        )}
      </Listed>
    </>
  );
}
