import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { theme } from "./theme.ts";

/**
 * A plot that has its element's width and the theme's colours.
 * @param make draws it into the element
 * @param height in pixels
 * @param shown what it shows: it is drawn again where that changes
 */
export function usePlot(
  make: (element: HTMLDivElement) => uPlot,
  height: number,
  shown: string,
): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const { value: chosen } = theme;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const plot = make(element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => plot.redraw();
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      resize.disconnect();
      plot.destroy();
    };
  }, [chosen, height, shown]);
  return box;
}
