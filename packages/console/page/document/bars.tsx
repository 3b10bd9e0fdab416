import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePlot } from "../plot.ts";

type Props = {
  /** What it shows, also for who can't see it. */
  readonly label: string;
  readonly names: readonly string[];
  readonly values: readonly number[];
};

const height = 240;

/** A plot with a bar for each name, in the colours of the theme. */
export function Bars({ label, names, values }: Props) {
  const box = usePlot(
    (element) => new uPlot(optionsOf(element, names), [names.map((_, index) => index), [...values]], element),
    height,
    `${names.join()} ${values.join()}`,
  );
  return (
    <figure class="bars">
      <figcaption>{label}</figcaption>
      <div ref={box} class="bars-box" role="img" aria-label={label}>
        <span class="bars-fill" />
        <span class="bars-line" />
      </div>
    </figure>
  );
}

function optionsOf(element: HTMLElement, names: readonly string[]): uPlot.Options {
  const colourOf = (part: string) => () => getComputedStyle(element.querySelector(part) ?? element).color;
  const axis = { stroke: () => getComputedStyle(element).color, ticks: { show: false } };
  const paths = uPlot.paths.bars?.({ size: [0.7, 64] });
  const bars = paths === undefined ? {} : { paths };
  const lines = { stroke: colourOf(".bars-line"), width: 1 };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [-0.6, names.length - 0.4] }, y: { range: rangeWithZero } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: [1, 2, 3, 6, 12, 24, 60, 120],
        space: 62,
        values: (_, splits) => splits.map((at) => names[at] ?? ""),
      },
      { ...axis, grid: lines, size: 74 },
    ],
    series: [{}, { ...bars, fill: colourOf(".bars-fill"), width: 0, points: { show: false } }],
  };
}

/** Bars stand on zero. */
function rangeWithZero(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  const [low, high] = [Math.min(0, min ?? 0), Math.max(0, max ?? 0)];
  const room = (high - low) * 0.08 || 1;
  return [low === 0 ? 0 : low - room, high === 0 ? 0 : high + room];
}
