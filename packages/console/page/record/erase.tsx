import { useState } from "preact/hooks";
import type { LegalHold } from "../../../../adapters/dynamodb/legal-holds.ts";
import type { Subject } from "../../../../domain/event/subjects.ts";
import { useLoaded } from "../api.ts";
import { visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Panel, Time } from "../parts/panel.tsx";

type Props = { readonly kind: string; readonly id: string; readonly onDone: () => void };
type Hold = LegalHold & { readonly subject: Subject };

/** Erases a subject once its id is typed; one that a legal hold is on only with a reason, which the audit trail keeps. */
export function Erase({ kind, id, onDone }: Props) {
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
          Why it is erased despite the hold, without anybody's id: the audit trail keeps it
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
            Records, documents and dead letters{kind === "user" ? ", and those of all accounts," : ""} go for
            good.
          </p>
        }
        onDone={() => {
          reload();
          onDone();
        }}
        says={({ subjects }) => `Erased: ${String(subjects)}. A second pass follows by itself.`}
      />
    </Panel>
  );
}
