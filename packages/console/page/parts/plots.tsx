import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { theme, useStage } from "../stage.ts";
import { hasBefore, type Line, lastPart, linesOf, timesOf } from "../traffic.ts";
import { Panel } from "./panel.tsx";

/** Throughput of the pipeline. A longer range is drawn once there is data beyond the shorter one. */
export function Plots() {
  const { isLocal } = useStage();
  const hours = useLoaded<Traffic>("/api/traffic?span=3h", isLocal ? 5 : 60);
  const days = useLoaded<Traffic>("/api/traffic?span=7d", isLocal ? 5 : 600);
  const quarter = hours.data && lastPart(hours.data, 15 * 60);
  return (
    <div class="columns">
      <One title="Last 15 minutes" per="a minute" data={quarter} error={hours.error} />
      {hasBefore(hours.data, 15 * 60) && (
        <One title="Last 3 hours" per="a minute" data={hours.data} error={hours.error} />
      )}
      {hasBefore(days.data, 3 * 3600) && (
        <One title="Last 7 days" per="an hour" data={days.data} error={days.error} />
      )}
    </div>
  );
}

type OneProps = {
  readonly title: string;
  readonly per: string;
  readonly data: Traffic | undefined;
  readonly error: string | undefined;
};

function One({ title, per, data, error }: OneProps) {
  const lines = data === undefined ? [] : linesOf(data);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === 0));
  return (
    <Panel title={title} error={error}>
      {data === undefined && error === undefined && <p class="quiet">Reading metrics…</p>}
      {data !== undefined && isEmpty && <p class="empty">No messages in this period.</p>}
      {data !== undefined && !isEmpty && (
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
    const plot = new uPlot(optionsOf(element, times, lines), values, element);
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

const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

function optionsOf(element: HTMLElement, times: readonly number[], lines: readonly Line[]): uPlot.Options {
  const colourOf = (index: number) => () =>
    getComputedStyle(element.querySelector(`.plot-line-${index}`) ?? element).color;
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 86_400;
  const tick = isLong ? day : minute;
  const axis = { stroke: () => getComputedStyle(element).color, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max ?? 0) * 1.1] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_, ticks) => ticks.map((at) => tick.format(at * 1000)) },
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
