import type { HistoryRow } from "@income-events/cli/events/event-history.ts";
import { useState } from "preact/hooks";
import { localTime } from "../format.ts";
import { useHistory } from "../history.ts";
import { Action } from "./action.tsx";
import { Select } from "./data.tsx";

type Props = { readonly kind: string; readonly onChosen: (body: string) => void };

const maxShown = 20;

/** Of the webhooks of a kind that came lately one is taken. The functions' logs are read once somebody asks for them. */
export function ChooseWebhook(props: Props) {
  const [isAsked, setAsked] = useState(false);
  if (isAsked) return <Came {...props} />;
  return (
    <div class="actions">
      <button type="button" onClick={() => setAsked(true)}>
        Choose one that came
      </button>
    </div>
  );
}

/** A body is personal data: that it is taken is recorded. */
function Came({ kind, onChosen }: Props) {
  const { data, error } = useHistory({ since: "1h" }, { kind });
  const [id, setId] = useState("");
  // One that is stored says whom it is about.
  const stored = (data?.events ?? []).filter(({ subject }) => subject !== undefined).slice(0, maxShown);
  const chosen = stored.find((each) => each.id === id) ?? stored[0];
  if (error !== undefined) return <p class="problem">{error}</p>;
  if (chosen === undefined)
    return (
      <p class="quiet">
        {data?.isComplete === true
          ? `No ${kind} webhook came within an hour: paste one.`
          : "Those that came are being looked for…"}
      </p>
    );
  const titles = new Map(stored.map((each) => [each.id, titleOf(each)]));
  const [subjectKind = "", of = ""] = (chosen.subject ?? "").split("/");
  return (
    <div class="actions">
      <Select
        label="One that came"
        value={chosen.id}
        of={stored.map((each) => each.id)}
        titleOf={(each) => titles.get(each) ?? each}
        onChange={setId}
      />
      <Action
        key={chosen.id}
        label="Take its body"
        path="/api/event/reveal"
        body={{ id: chosen.id, [subjectKind]: of }}
        isLook
        onDone={({ body }) => onChosen(JSON.stringify(body, undefined, 2))}
        says={() => "Taken. The audit trail says so."}
      />
    </div>
  );
}

function titleOf({ at, type, endpoint, id }: HistoryRow): string {
  return [localTime(at), type, endpoint, id.slice(0, 8)].filter((part) => part !== undefined).join(" ");
}
