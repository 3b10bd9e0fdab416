import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { theme, useStage } from "../stage.ts";
import { type Line, linesOf, timesOf } from "../traffic.ts";
import { Panel } from "./panel.tsx";

const spans = [
  ["3h", "The last 3 hours", "a minute", 60],
  ["7d", "The last 7 days", "an hour", 600],
] as const;

/** What went through the pipeline. */
export function Plots() {
  return (
    <div class="columns">
      {spans.map(([span, title, per, seconds]) => (
        <One key={span} span={span} title={title} per={per} seconds={seconds} />
      ))}
    </div>
  );
}

type OneProps = {
  readonly span: string;
  readonly title: string;
  readonly per: string;
  readonly seconds: number;
};

function One({ span, title, per, seconds }: OneProps) {
  const { isLocal } = useStage();
  const { data, error } = useLoaded<Traffic>(`/api/traffic?span=${span}`, isLocal ? 5 : seconds);
  const lines = data === undefined ? [] : linesOf(data);
  return (
    <Panel title={title} error={error}>
      {data === undefined && error === undefined && <p class="quiet">The metrics are being read…</p>}
      {data !== undefined && (
        <>
          <Lines label={`Messages ${per}`} times={timesOf(data)} lines={lines} />
          <ul class="plot-names">
            {lines.map(({ name, values }, index) => (
              <li key={name}>
                <span class={`plot-line plot-line-${index}`} aria-hidden="true" /> {name}:{" "}
                {number(values.reduce((one, other) => one + other, 0))} in all, at most{" "}
                {number(Math.max(0, ...values))} {per}
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

type LinesProps = {
  readonly label: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
};

const height = 180;

/** A line for each, in the colours of the theme, as wide as the page allows; the figures stand beside it. */
function Lines({ label, times, lines }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const { value: chosen } = theme;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const values: uPlot.AlignedData = [[...times], ...lines.map((line) => [...line.values])];
    const plot = new uPlot(optionsOf(element, lines), values, element);
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
  }, [chosen, `${times.at(-1)} ${JSON.stringify(lines)}`]);
  return (
    <div ref={box} class="plot" role="img" aria-label={label}>
      {lines.map(({ name }, index) => (
        <span key={name} class={`plot-line plot-line-${index}`} />
      ))}
    </div>
  );
}

function optionsOf(element: HTMLElement, lines: readonly Line[]): uPlot.Options {
  const colourOf = (index: number) => () =>
    getComputedStyle(element.querySelector(`.plot-line-${index}`) ?? element).color;
  const axis = { stroke: () => getComputedStyle(element).color, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max ?? 0) * 1.1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 56, grid: { width: 0.3 } },
    ],
    series: [
      {},
      ...lines.map(({ name }, index) => ({
        ...{ label: name, stroke: colourOf(index), width: 1.5, points: { show: false } },
      })),
    ],
  };
}
