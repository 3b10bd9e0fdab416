import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type Props<T> = {
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (item: T) => ComponentChildren;
};

/** Rows above and below what is seen. */
const spare = 8;

/** A list of which only what is seen is drawn: 100,000 rows scroll as ten do. */
export function VirtualList<T>({ items, rowHeight, label, row }: Props<T>) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    if (box.current !== null) setHeight(box.current.clientHeight);
  }, [items.length]);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const shown = items.slice(first, Math.ceil((top + height) / rowHeight) + spare);
  return (
    <section
      class="virtual"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
      tabIndex={0}
      aria-label={label}
      ref={box}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <svg class="virtual-space" width="1" height={items.length * rowHeight} aria-hidden="true" />
      <ul ref={(list) => list?.style.setProperty("transform", `translateY(${first * rowHeight}px)`)}>
        {shown.map((item, index) => (
          <li key={first + index} ref={(line) => line?.style.setProperty("height", `${rowHeight}px`)}>
            {row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}
