import type { HistoryRow } from "@income-events/cli/events/event-history.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { HistoryPage } from "../history.ts";
import { get, textOf } from "./api.ts";
import { address, type Params } from "./route.ts";

type Known = { readonly data?: HistoryPage; readonly error?: string };

export type ShownHistory = Known & {
  readonly rowAt: (index: number) => HistoryRow | undefined;
  /** Asks for what is seen. */
  readonly onSeen: (first: number, last: number) => void;
  readonly reload: () => void;
};

const millisecondsOfRest = 200;

/**
 * A history of which the server keeps the whole and this page gets what is seen.
 * @param period another one is read anew; another filter is not
 */
export function useHistory(period: Params, filter: Params): ShownHistory {
  const [known, setKnown] = useState<Known>({});
  const [round, setRound] = useState(0);
  const [, redraw] = useState(0);
  const pages = useRef(new Map<number, readonly HistoryRow[]>());
  const reading = useMemo(() => crypto.randomUUID(), [round, address("", period)]);
  const path = address("/api/events", { ...period, ...filter, reading });
  const ask = (offset: number) => get<HistoryPage>(`${path}&offset=${offset}`);
  useEffect(() => {
    let isOver = false;
    let timer: number | undefined;
    const load = async () => {
      try {
        const data = await ask(0);
        if (isOver) return;
        pages.current = new Map([[0, data.events]]);
        setKnown({ data });
        if (!data.isComplete) timer = window.setTimeout(load, millisecondsOfRest);
      } catch (error) {
        if (!isOver) setKnown((last) => ({ ...last, error: textOf(error) }));
      }
    };
    // Somebody who types gets one answer.
    timer = window.setTimeout(load, known.data === undefined ? 0 : millisecondsOfRest);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path]);
  const pageLength = Math.max(1, known.data?.events.length ?? 0);
  const pageOf = (index: number) => Math.floor(index / pageLength);
  return {
    ...known,
    rowAt: (index) => pages.current.get(pageOf(index))?.[index % pageLength],
    onSeen: (first, last) => {
      const into = pages.current;
      for (const page of new Set([pageOf(first), pageOf(last)])) {
        if (into.has(page)) continue;
        // Asked for: once.
        into.set(page, []);
        ask(page * pageLength).then(
          ({ events }) => {
            into.set(page, events);
            redraw((value) => value + 1);
          },
          () => into.delete(page),
        );
      }
    },
    reload: () => setRound((value) => value + 1),
  };
}
