import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type Props<T> = {
  readonly count: number;
  /** Undefined while it is being loaded. */
  readonly itemAt: (index: number) => T | undefined;
  /** Called with the visible range, so that it can be loaded. */
  readonly onSeen?: (first: number, last: number) => void;
  readonly label: string;
  /** Rows of two lines, which are taller on a narrow page. */
  readonly isTall?: boolean;
  readonly row: (item: T) => ComponentChildren;
};

const narrow = matchMedia("(max-width: 760px)");
/** Rows to render above and below the visible range. */
const spare = 8;

/** A list that renders only visible rows, so that 100,000 rows scroll like ten. */
export function VirtualList<T>({ count, itemAt, onSeen, label, isTall = false, row }: Props<T>) {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const onChange = () => setNarrow(narrow.matches);
    narrow.addEventListener("change", onChange);
    return () => narrow.removeEventListener("change", onChange);
  }, []);
  // In pixels.
  const rowHeight = isTall && isNarrow ? 84 : 40;
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    if (box.current !== null) setHeight(box.current.clientHeight);
  }, [count]);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  useEffect(() => onSeen?.(first, end - 1), [first, end]);
  const shown = Array.from({ length: Math.max(0, end - first) }, (_, index) => itemAt(first + index));
  return (
    <section
      class="virtual"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
      tabIndex={0}
      aria-label={label}
      ref={box}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <svg class="virtual-space" width="1" height={count * rowHeight} aria-hidden="true" />
      <ul ref={(list) => list?.style.setProperty("transform", `translateY(${first * rowHeight}px)`)}>
        {shown.map((item, index) => (
          <li key={first + index} ref={(line) => line?.style.setProperty("height", `${rowHeight}px`)}>
            {item === undefined ? <span class="quiet">…</span> : row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}
