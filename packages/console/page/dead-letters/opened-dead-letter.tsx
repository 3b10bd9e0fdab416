import { useEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "../api.ts";
import { number, visible } from "../format.ts";
import { Time } from "../parts/panel.tsx";
import { Payload } from "../parts/payload.tsx";
import { setSearch } from "../route.ts";

export type DeadLetter = {
  readonly messageId: string;
  readonly what: string;
  readonly id?: string;
  readonly reason: string;
  readonly sentAt: string;
  readonly receives: number;
  readonly payload: unknown;
};

type Props = {
  /** SQS's own id of the message. */
  readonly id: string;
  /** Absent where it is not among those shown: it is looked for. */
  readonly known: DeadLetter | undefined;
  readonly queue: string;
  readonly isArchived: boolean;
};

/** One dead letter below the list, so that the list keeps rows of one height. Its address can be sent to somebody. */
export function OpenedDeadLetter({ id, known, queue, isArchived }: Props) {
  const words = new URLSearchParams({ queue, id, limit: "1", ...(isArchived && { archive: "yes" }) });
  const { data, error } = useLoaded<{ readonly deadLetters: readonly DeadLetter[] }>(
    known === undefined ? `/api/dead-letters/of?${words}` : undefined,
  );
  const deadLetter = known ?? data?.deadLetters[0];
  const [revealed, setRevealed] = useState<unknown>(undefined);
  const section = useRef<HTMLElement>(null);
  const isThere = deadLetter !== undefined;
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [isThere]);
  const onRevealed = ({ deadLetters }: Readonly<Record<string, unknown>>) => {
    const [first]: readonly unknown[] = Array.isArray(deadLetters) ? deadLetters : [];
    if (typeof first === "object" && first !== null && "payload" in first) setRevealed(first.payload);
  };
  if (deadLetter === undefined)
    return error === undefined ? (
      <p class="quiet">It is being looked for…</p>
    ) : (
      <p class="problem" role="alert">
        {error}
      </p>
    );
  const { messageId, what, reason, sentAt, receives, payload } = deadLetter;
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
      <p class="id">
        {deadLetter.id ?? messageId} · received {receives === 1 ? "once" : `${number(receives)} times`}
      </p>
      <Payload
        value={revealed ?? payload}
        isRevealed={revealed !== undefined}
        path="/api/dead-letters/reveal"
        body={{ queue, id: messageId, archive: isArchived }}
        onRevealed={onRevealed}
      />
    </section>
  );
}
