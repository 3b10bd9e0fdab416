import type { ShownDeadLetter } from "@income-events/cli/commands/dlq.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Listed, Panel, Problem, Time } from "../parts/panel.tsx";
import { JsonText, useMasked } from "../parts/payload.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { address, searchWord, setSearch } from "../route.ts";

/** Maximum to show, redrive or purge at once. */
const perStep = 1000;

/** An answer with dead letters. */
export type DeadLetterAnswer = { readonly deadLetters: readonly ShownDeadLetter[] };

type Props = { readonly queue: string; readonly onChanged: () => void };

/** A queue's dead letters, or the archive's, with their actions. */
export function OfQueue({ queue, onChanged }: Props) {
  const [reason, chosen] = [searchWord("reason"), searchWord("opened")];
  const isArchived = searchWord("archive") === "yes";
  const wanted = { queue, reason, archive: isArchived };
  const { data, error, reload } = useLoaded<DeadLetterAnswer>(address("/api/dead-letters/of", wanted));
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
      {(deadLetters.length > 0 || hasActed) && (
        <Actions deadLetters={deadLetters} redrivable={redrivable} body={wanted} onDone={done} />
      )}
      {isFull && (
        <p class="quiet">The first {number(perStep)} are shown. Refresh for the next ones after an action.</p>
      )}
      <Listed
        of={{ data: data?.deadLetters, error }}
        waiting="Reading…"
        empty={emptyText(reason !== "", isArchived)}
      >
        {(shown) => (
          <VirtualList
            count={shown.length}
            itemAt={(index) => shown[index]}
            label={isArchived ? "Archived dead letters" : "Dead letters"}
            isTall
            row={(deadLetter) => <Row deadLetter={deadLetter} isChosen={deadLetter.messageId === chosen} />}
          />
        )}
      </Listed>
      {data !== undefined && chosen !== "" && (
        <OpenedDeadLetter
          key={chosen}
          of={{ queue, id: chosen, archive: isArchived }}
          known={deadLetters.filter(({ messageId }) => messageId === chosen)}
          onDone={done}
        />
      )}
      <Command
        line={commands.deadLetters(redrivable > 0 ? "redrive" : "show", queue, {
          ...{ reason, archive: isArchived, limit: isFull && perStep },
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

/** Which dead letters an action is for. */
type Body = {
  readonly queue: string;
  readonly archive: boolean;
  readonly reason?: string;
  readonly id?: string;
};

type ActProps = {
  readonly label: string;
  readonly body: Body;
  readonly isMain?: boolean;
  readonly isOff?: boolean;
  readonly onDone: () => void;
};

function Redrive(props: ActProps) {
  return (
    <Action
      {...props}
      path="/api/dead-letters/redrive"
      says={({ redriven }) => `Redriven: ${String(redriven)}.`}
    />
  );
}

function Purge({ warning, ...props }: ActProps & { readonly warning: string }) {
  return (
    <Action
      {...props}
      path="/api/dead-letters/purge"
      typed={props.body.queue}
      warning={<p class="bad">{warning}</p>}
      says={({ purged }) => `Deleted: ${String(purged)}.`}
    />
  );
}

type ActionsProps = {
  readonly deadLetters: readonly ShownDeadLetter[];
  /** How many of them can succeed as they are. */
  readonly redrivable: number;
  readonly body: Body;
  readonly onDone: () => void;
};

function Actions({ deadLetters, redrivable, body, onDone }: ActionsProps) {
  const count = deadLetters.length;
  const these = count === 1 ? "it" : `these ${number(count)}`;
  const redrive = { body, isMain: redrivable > 0, isOff: count === 0, onDone };
  return (
    <>
      <div class="actions">
        {redrivable === 0 && deadLetters.some(({ next }) => next === "map") && (
          <>
            <OpenInMapping queue={body.queue} />
            <details>
              <summary>After the new mapping is deployed</summary>
              <Redrive {...redrive} label="Redrive with the new mapping" />
            </details>
          </>
        )}
        {(redrivable > 0 || count === 0) && <Redrive {...redrive} label={`Redrive ${these}`} />}
        {!body.archive && (
          <Purge
            label={`Purge ${these}`}
            body={body}
            isOff={count === 0}
            warning="This deletes them permanently."
            onDone={onDone}
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

function OpenInMapping({ queue, deadLetter }: { readonly queue: string; readonly deadLetter?: string }) {
  return (
    <a class="button main" href={address("/mapping", { kind: queue, deadLetter })}>
      Open in Mapping
    </a>
  );
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

type NextProps = Pick<OpenedProps, "of" | "onDone"> & { readonly step: ShownDeadLetter["next"] };

/** The right next step for this dead letter. */
function Next({ step, of, onDone }: NextProps) {
  if (step === "purge" && of.archive)
    return <p class="quiet">No mapping can read it. It expires in the archive.</p>;
  if (step === "purge")
    return (
      <Purge
        label="Discard"
        body={of}
        warning="No mapping can read it. This deletes it permanently."
        onDone={onDone}
      />
    );
  if (step === "map" && !of.archive)
    return (
      <p>
        <OpenInMapping queue={of.queue} deadLetter={of.id} />
      </p>
    );
  return <Redrive label={step === "resend" ? "Resend" : "Redrive"} body={of} isMain onDone={onDone} />;
}

type OpenedProps = {
  /** The id is the message id of SQS. */
  readonly of: Body & { readonly id: string };
  /** Empty if it is not in the list; it is then loaded. */
  readonly known: readonly ShownDeadLetter[];
  readonly onDone: () => void;
};

/** A dead letter, shown below the list so that rows keep one height. Its address can be shared. */
function OpenedDeadLetter({ of, known, onDone }: OpenedProps) {
  const { data, error, isRevealed, control } = useMasked<DeadLetterAnswer>(
    "/api/dead-letters/of",
    of,
    known.length > 0 ? { deadLetters: known } : undefined,
  );
  const deadLetter = data?.deadLetters[0];
  const section = useRef<HTMLElement>(null);
  const isThere = deadLetter !== undefined;
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [isThere]);
  if (deadLetter === undefined)
    return error === undefined ? <p class="quiet">Searching…</p> : <Problem text={error} />;
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
      <Next step={next} of={of} onDone={onDone} />
      <p class="id">{deadLetter.id ?? messageId}</p>
      <JsonText value={payload} label={isRevealed ? "The body" : "The body, masked"} />
      {control}
    </section>
  );
}
