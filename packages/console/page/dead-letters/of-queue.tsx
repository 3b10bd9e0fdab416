import type { ShownDeadLetter } from "@income-events/cli/commands/dlq.ts";
import type { NextStep } from "@income-events/cli/dead-letters/selection.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { Payload, payloadIn } from "../parts/payload.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { searchWord, setSearch } from "../route.ts";

/** Maximum to show, redrive or purge at once. */
const perStep = 1000;

type Props = { readonly queue: string; readonly onChanged: () => void };

/** A queue's dead letters, or the archive's, with their actions. */
export function OfQueue({ queue, onChanged }: Props) {
  const [reason, chosen, isArchived] = [
    searchWord("reason"),
    searchWord("opened"),
    searchWord("archive") === "yes",
  ];
  const words = { queue, ...(reason !== "" && { reason }), ...(isArchived && { archive: "yes" }) };
  const { data, error, reload } = useLoaded<{ readonly deadLetters: readonly ShownDeadLetter[] }>(
    `/api/dead-letters/of?${new URLSearchParams({ ...words, limit: String(perStep) })}`,
  );
  const deadLetters = data?.deadLetters ?? [];
  const isFull = deadLetters.length === perStep;
  const redrivable = deadLetters.filter(({ next }) => next === "redrive" || next === "resend").length;
  // The last job's result stays visible, even if its dead letters are gone.
  const [hasActed, setActed] = useState(false);
  const done = () => {
    setActed(true);
    setSearch({ opened: "" });
    reload();
    onChanged();
  };
  return (
    <Panel title={`Dead letters of ${queue}`} error={error}>
      <Filters reason={reason} isArchived={isArchived} />
      {data === undefined && error === undefined && <p class="quiet">Reading…</p>}
      {data !== undefined && deadLetters.length === 0 && (
        <p class="empty">{emptyText(reason !== "", isArchived)}</p>
      )}
      {(deadLetters.length > 0 || hasActed) && (
        <Actions
          count={deadLetters.length}
          body={{ queue, archive: isArchived, ...(reason !== "" && { reason }) }}
          isArchived={isArchived}
          redrivable={redrivable}
          isForMapping={deadLetters.some(({ next }) => next === "map")}
          onDone={done}
        />
      )}
      {isFull && (
        <p class="quiet">The first {number(perStep)} are shown. Refresh for the next ones after an action.</p>
      )}
      {deadLetters.length > 0 && (
        <VirtualList
          count={deadLetters.length}
          itemAt={(index) => deadLetters[index]}
          label={isArchived ? "Archived dead letters" : "Dead letters"}
          isTall
          row={(deadLetter) => <Row deadLetter={deadLetter} isChosen={deadLetter.messageId === chosen} />}
        />
      )}
      {data !== undefined && chosen !== "" && (
        <OpenedDeadLetter
          key={chosen}
          id={chosen}
          known={deadLetters.find(({ messageId }) => messageId === chosen)}
          queue={queue}
          isArchived={isArchived}
          onDone={done}
        />
      )}
      <Command
        line={commands.deadLetters(redrivable > 0 ? "redrive" : "show", {
          ...{ queue, reason, isArchived },
          ...(isFull && { limit: perStep }),
        })}
      />
    </Panel>
  );
}

/** Changing a filter closes the open dead letter. */
function Filters({ reason, isArchived }: { readonly reason: string; readonly isArchived: boolean }) {
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Text in the reason
        <input
          value={reason}
          onChange={({ currentTarget }) => setSearch({ reason: currentTarget.value, opened: "" })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isArchived}
          onChange={({ currentTarget }) =>
            setSearch({ archive: currentTarget.checked ? "yes" : "", opened: "" })
          }
        />
        from the archive
      </label>
    </form>
  );
}

type ActionsProps = {
  readonly count: number;
  /** How many of them can succeed as they are. */
  readonly redrivable: number;
  /** Whether the mapping refused some: they fail again until it is changed. */
  readonly isForMapping: boolean;
  readonly body: { readonly queue: string; readonly archive: boolean; readonly reason?: string };
  readonly isArchived: boolean;
  readonly onDone: () => void;
};

function Actions({ count, redrivable, isForMapping, body, isArchived, onDone }: ActionsProps) {
  const these = count === 1 ? "it" : `these ${number(count)}`;
  const redrive = (label: string) => (
    <Action
      label={label}
      path="/api/dead-letters/redrive"
      body={body}
      isMain={redrivable > 0}
      isOff={count === 0}
      onDone={onDone}
      says={({ redriven }) => `Redriven: ${String(redriven)}.`}
    />
  );
  return (
    <>
      <div class="actions">
        {isForMapping && redrivable === 0 && (
          <>
            <a class="button main" href={mappingPath(body.queue)}>
              Open in Mapping
            </a>
            <details>
              <summary>After the new mapping is deployed</summary>
              {redrive("Redrive with the new mapping")}
            </details>
          </>
        )}
        {(redrivable > 0 || count === 0) && redrive(`Redrive ${these}`)}
        {!isArchived && (
          <Action
            label={`Purge ${these}`}
            path="/api/dead-letters/purge"
            body={body}
            typed={body.queue}
            isOff={count === 0}
            warning={<p class="bad">This deletes them permanently.</p>}
            onDone={onDone}
            says={({ purged }) => `Deleted: ${String(purged)}.`}
          />
        )}
      </div>
      {redrivable > 0 && redrivable < count && (
        <p class="quiet">
          {number(count - redrivable)} of them would fail again. Open one to see its next step, or filter by
          the reason.
        </p>
      )}
    </>
  );
}

function mappingPath(kind: string, deadLetter?: string): string {
  return `/mapping?${new URLSearchParams({ kind, ...(deadLetter !== undefined && { deadLetter }) })}`;
}

function emptyText(isFiltered: boolean, isArchived: boolean): string {
  if (isFiltered)
    return `No dead letters found. Choose a shorter text, or open ${isArchived ? "the queue" : "the archive"}.`;
  return isArchived
    ? "The archive has no dead letters of this queue. Dead letters move here before they expire."
    : "No dead letters in the queue. Older ones may be in the archive.";
}

function Row({ deadLetter, isChosen }: { readonly deadLetter: ShownDeadLetter; readonly isChosen: boolean }) {
  const { messageId, what, reason, sentAt } = deadLetter;
  return (
    <button
      type="button"
      class="line line-tall line-button"
      aria-expanded={isChosen}
      onClick={() => setSearch({ opened: isChosen ? "" : messageId })}
    >
      <span class="tag tag-dead">{what}</span>
      <span class="line-text" title={visible(reason)}>
        {visible(reason)}
      </span>
      <Time at={sentAt} />
    </button>
  );
}

type NextProps = Pick<OpenedProps, "queue" | "isArchived" | "onDone"> & {
  readonly step: NextStep;
  readonly messageId: string;
};

/** The right next step for this dead letter. */
function Next({ step, queue, messageId, isArchived, onDone }: NextProps) {
  const body = { queue, id: messageId, archive: isArchived };
  if (step === "purge" && isArchived)
    return <p class="quiet">No mapping can read it. It expires in the archive.</p>;
  if (step === "purge")
    return (
      <Action
        label="Discard"
        path="/api/dead-letters/purge"
        body={body}
        typed={queue}
        warning={<p class="bad">No mapping can read it. This deletes it permanently.</p>}
        onDone={onDone}
        says={({ purged }) => `Deleted: ${String(purged)}.`}
      />
    );
  if (step === "map" && !isArchived)
    return (
      <p>
        <a class="button main" href={mappingPath(queue, messageId)}>
          Open in Mapping
        </a>
      </p>
    );
  return (
    <Action
      label={step === "resend" ? "Resend" : "Redrive"}
      path="/api/dead-letters/redrive"
      body={body}
      isMain
      onDone={onDone}
      says={({ redriven }) => `Redriven: ${String(redriven)}.`}
    />
  );
}

type OpenedProps = {
  /** The message id of SQS. */
  readonly id: string;
  /** Undefined if it is not in the list; it is then loaded. */
  readonly known: ShownDeadLetter | undefined;
  readonly queue: string;
  readonly isArchived: boolean;
  readonly onDone: () => void;
};

/** A dead letter, shown below the list so that rows keep one height. Its address can be shared. */
function OpenedDeadLetter({ id, known, queue, isArchived, onDone }: OpenedProps) {
  const words = new URLSearchParams({ queue, id, limit: "1", ...(isArchived && { archive: "yes" }) });
  const { data, error } = useLoaded<{ readonly deadLetters: readonly ShownDeadLetter[] }>(
    known === undefined ? `/api/dead-letters/of?${words}` : undefined,
  );
  const deadLetter = known ?? data?.deadLetters[0];
  const [revealed, setRevealed] = useState<unknown>(undefined);
  const section = useRef<HTMLElement>(null);
  const isThere = deadLetter !== undefined;
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [isThere]);
  if (deadLetter === undefined)
    return error === undefined ? (
      <p class="quiet">Searching…</p>
    ) : (
      <p class="problem" role="alert">
        {error}
      </p>
    );
  const { messageId, what, reason, sentAt, payload, next } = deadLetter;
  return (
    <section class="opened" aria-label="The dead letter" ref={section}>
      <div class="panel-head">
        <h3>
          <span class="tag tag-dead">{what}</span> <Time at={sentAt} />
        </h3>
        <button type="button" onClick={() => setSearch({ opened: "" })}>
          Close
        </button>
      </div>
      <p>{visible(reason)}</p>
      <Next step={next} queue={queue} messageId={messageId} isArchived={isArchived} onDone={onDone} />
      <p class="id">{deadLetter.id ?? messageId}</p>
      <Payload
        value={revealed ?? payload}
        isRevealed={revealed !== undefined}
        path="/api/dead-letters/reveal"
        body={{ queue, id: messageId, archive: isArchived }}
        onRevealed={(result) => setRevealed(payloadIn(result))}
        onHidden={() => setRevealed(undefined)}
      />
    </section>
  );
}
