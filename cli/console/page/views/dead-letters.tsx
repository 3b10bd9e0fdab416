import { useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import { RelayFailures } from "../dead-letters/relay-failures.tsx";
import { Work } from "../dead-letters/work.tsx";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { Payload } from "../parts/payload.tsx";
import { searchWord, setSearch } from "../route.ts";

type Summary = {
  readonly queue: string;
  readonly deadLetters: number;
  readonly oldest?: string;
  readonly endsAt?: string;
  readonly archived: number;
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
};
type DeadLetter = {
  readonly messageId: string;
  readonly what: string;
  readonly id?: string;
  readonly reason: string;
  readonly sentAt: string;
  readonly receives: number;
  readonly payload: unknown;
};

/** So many are shown, redriven or purged at once. */
const perStep = 1000;

export function DeadLetters() {
  const { data, error, reload } = useLoaded<{ readonly queues: readonly Summary[] }>("/api/dead-letters");
  const queue = searchWord("queue");
  const held = (data?.queues ?? []).filter(({ deadLetters, archived }) => deadLetters + archived > 0);
  const again = (
    <button type="button" onClick={reload}>
      Look again
    </button>
  );
  return (
    <>
      <Panel title="By queue" error={error} aside={again}>
        {data === undefined && error === undefined && <p class="quiet">The queues are being read…</p>}
        {data !== undefined && held.length === 0 && (
          <p class="empty">There are none: everything was processed.</p>
        )}
        {held.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Queue</th>
                <th scope="col" class="figure">
                  Dead letters
                </th>
                <th scope="col" class="figure">
                  Archived
                </th>
                <th scope="col">Since</th>
                <th scope="col">Reasons</th>
              </tr>
            </thead>
            <tbody>
              {held.map(({ queue: name, deadLetters, archived, oldest, reasons }) => (
                <tr key={name}>
                  <th scope="row" class="queue">
                    <a href={`/dead-letters?queue=${encodeURIComponent(name)}`}>{name}</a>
                  </th>
                  <td class="figure">{number(deadLetters)}</td>
                  <td class="figure">{number(archived)}</td>
                  <td>
                    <Time at={oldest} />
                  </td>
                  <td>
                    {reasons.map(({ reason, count }) => (
                      <p key={reason}>
                        {visible(reason)} ({number(count)})
                      </p>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <Command line="npx income-events dlq list" />
      </Panel>
      {queue !== "" && <OfQueue queue={queue} key={queue} onChanged={reload} />}
      <RelayFailures />
      <Work of="dead-letters" />
    </>
  );
}

function OfQueue({ queue, onChanged }: { readonly queue: string; readonly onChanged: () => void }) {
  const [reason, archive] = [searchWord("reason"), searchWord("archive")];
  const words = { queue, ...(reason !== "" && { reason }), ...(archive !== "" && { archive }) };
  const { data, error, reload } = useLoaded<{ readonly deadLetters: readonly DeadLetter[] }>(
    `/api/dead-letters/of?${new URLSearchParams({ ...words, limit: String(perStep) })}`,
  );
  const deadLetters = data?.deadLetters ?? [];
  const body = { queue, archive: archive === "yes", ...(reason !== "" && { reason }) };
  // What was said of the last work stays, though nothing may be left of what it was about.
  const [hasActed, setActed] = useState(false);
  const isOff = deadLetters.length === 0;
  const done = () => {
    setActed(true);
    reload();
    onChanged();
  };
  const selection = reason === "" ? "" : ` --reason '${reason}'`;
  return (
    <Panel title={`Dead letters of ${queue}`} error={error}>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Text of the reason
          <input
            value={reason}
            onChange={({ currentTarget }) => setSearch({ reason: currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={archive === "yes"}
            onChange={({ currentTarget }) => setSearch({ archive: currentTarget.checked ? "yes" : "" })}
          />
          those of the archive
        </label>
      </form>
      {data === undefined && error === undefined && <p class="quiet">They are being read…</p>}
      {data !== undefined && deadLetters.length === 0 && (
        <p class="empty">
          There is no such dead letter. Choose a shorter text of the reason, or look at the archive.
        </p>
      )}
      {(!isOff || hasActed) && (
        <div class="actions">
          <Action
            label={`Redrive ${deadLetters.length === 1 ? "it" : `these ${number(deadLetters.length)}`}`}
            path="/api/dead-letters/redrive"
            body={body}
            isMain
            isOff={isOff}
            onDone={done}
            says={({ redriven }) => `Sent to their queue again: ${String(redriven)}.`}
          />
          {archive !== "yes" && (
            <Action
              label={`Purge ${deadLetters.length === 1 ? "it" : `these ${number(deadLetters.length)}`}`}
              path="/api/dead-letters/purge"
              body={body}
              typed={queue}
              isOff={isOff}
              warning={<p class="bad">This deletes them for good.</p>}
              onDone={done}
              says={({ purged }) => `Deleted: ${String(purged)}.`}
            />
          )}
        </div>
      )}
      {deadLetters.length === perStep && (
        <p class="quiet">
          These are the first {number(perStep)} that fit. A step takes so many; look again for the next.
        </p>
      )}
      <ul class="openable">
        {deadLetters.map((deadLetter) => (
          <OneDeadLetter
            key={deadLetter.messageId}
            deadLetter={deadLetter}
            queue={queue}
            isArchived={archive === "yes"}
          />
        ))}
      </ul>
      <Command line={`npx income-events dlq redrive ${queue}${selection}`} />
    </Panel>
  );
}

type DeadLetterProps = {
  readonly deadLetter: DeadLetter;
  readonly queue: string;
  readonly isArchived: boolean;
};

function OneDeadLetter({ deadLetter, queue, isArchived }: DeadLetterProps) {
  const [isOpen, setOpen] = useState(false);
  const [revealed, setRevealed] = useState<unknown>(undefined);
  const { messageId, what, id, reason, sentAt, receives, payload } = deadLetter;
  const onRevealed = ({ deadLetters }: Readonly<Record<string, unknown>>) => {
    const [first]: readonly unknown[] = Array.isArray(deadLetters) ? deadLetters : [];
    if (typeof first === "object" && first !== null && "payload" in first) setRevealed(first.payload);
  };
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="tag tag-dead">{what}</span> {visible(reason)} <Time at={sentAt} />
        </summary>
        {isOpen && (
          <>
            <p class="id">
              {id ?? messageId} · received {receives} times
            </p>
            <Payload
              value={revealed ?? payload}
              isRevealed={revealed !== undefined}
              path="/api/dead-letters/reveal"
              body={{ queue, id: messageId, archive: isArchived }}
              onRevealed={onRevealed}
            />
          </>
        )}
      </details>
    </li>
  );
}
