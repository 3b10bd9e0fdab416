import type { HistoryRow } from "@income-events/cli/events/event-history.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import type { HistoryPage } from "../history.ts";
import { get } from "./api.ts";

export type ShownHistory = {
  readonly data?: HistoryPage;
  readonly error?: string;
  readonly rowAt: (index: number) => HistoryRow | undefined;
  /** Asks for what is seen. */
  readonly onSeen: (first: number, last: number) => void;
  readonly reload: () => void;
};

type Words = Readonly<Record<string, string | undefined>>;
type Known = { readonly data?: HistoryPage; readonly error?: string };

const millisecondsOfRest = 200;

/**
 * A history of which the server keeps the whole and this page gets what is seen.
 * @param period another one is read anew; another filter is not
 */
export function useHistory(period: Words, filter: Words): ShownHistory {
  const [known, setKnown] = useState<Known>({});
  const [round, setRound] = useState(0);
  const [, redraw] = useState(0);
  const rows = useRef(new Map<number, HistoryRow | undefined>());
  const reading = useRef<{ readonly key: string; readonly id: string } | undefined>(undefined);
  const key = `${round} ${wordsOf(period)}`;
  const filtered = wordsOf(filter);
  const ask = (offset: number) => {
    const id = reading.current?.key === key ? reading.current.id : undefined;
    const place = { offset: String(offset), ...(id !== undefined && { reading: id }) };
    return get<HistoryPage>(`/api/events?${wordsOf({ ...period, ...filter, ...place })}`);
  };
  const keep = ({ events, offset }: HistoryPage) => {
    for (const [index, event] of events.entries()) rows.current.set(offset + index, event);
  };
  useEffect(() => {
    let isOver = false;
    let timer: number | undefined;
    const load = async () => {
      try {
        const data = await ask(0);
        if (isOver) return;
        reading.current = { key, id: data.reading };
        rows.current = new Map();
        keep(data);
        setKnown({ data });
        if (!data.isComplete) timer = window.setTimeout(load, millisecondsOfRest);
      } catch (error) {
        if (!isOver)
          setKnown(({ data }) => ({
            ...(data && { data }),
            error: error instanceof Error ? error.message : String(error),
          }));
      }
    };
    // Somebody who types gets one answer.
    timer = window.setTimeout(load, reading.current === undefined ? 0 : millisecondsOfRest);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key, filtered]);
  return {
    ...known,
    rowAt: (index) => rows.current.get(index),
    onSeen: (first, last) => {
      const pageLength = known.data?.events.length ?? 0;
      for (let index = first; index <= last && pageLength > 0; index += 1) {
        if (rows.current.has(index)) continue;
        const offset = Math.floor(index / pageLength) * pageLength;
        // Asked for: once.
        for (let each = offset; each < offset + pageLength; each += 1) rows.current.set(each, undefined);
        const into = rows.current;
        ask(offset).then(
          (page) => {
            if (rows.current !== into) return;
            keep(page);
            redraw((value) => value + 1);
          },
          () => into.clear(),
        );
      }
    },
    reload: () => setRound((value) => value + 1),
  };
}

function wordsOf(words: Words): string {
  const given = Object.entries(words).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(given.map(([name, value]) => [name, value ?? ""])).toString();
}
