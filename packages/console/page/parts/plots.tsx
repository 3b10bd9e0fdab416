import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Series } from "../../../../adapters/sqs/queue-metrics.ts";
import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { searchWord } from "../route.ts";
import { theme, useStage } from "../stage.ts";
import { Choice } from "./data.tsx";
import { Panel } from "./panel.tsx";

/** Throughput of the pipeline in the period that the page's address names. */
export function Plots() {
  const { isLocal } = useStage();
  const span = searchWord("span") || "15m";
  const isLong = span === "7d";
  const { data, error } = useLoaded<Traffic>(
    `/api/traffic?span=${isLong ? "7d" : "3h"}`,
    isLocal ? 5 : isLong ? 600 : 60,
  );
  const shown = span === "15m" && data ? lastPart(data, 15 * 60) : data;
  const per = isLong ? "an hour" : "a minute";
  const lines = shown === undefined ? [] : linesOf(shown);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === 0));
  return (
    <Panel title="Messages" error={error}>
      <Choice name="span" label="Last" of={["15m", "3h", "7d"]} fallback="15m" />
      {shown === undefined && error === undefined && <p class="quiet">Reading metrics…</p>}
      {shown !== undefined && isEmpty && <p class="empty">No messages in this period.</p>}
      {shown !== undefined && !isEmpty && (
        <>
          <Lines label={`Messages ${per}`} times={timesOf(shown)} lines={lines} />
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

/** Queues that are plotted together. */
type Line = { readonly name: string; readonly values: readonly number[] };

const groups = [
  ["webhooks", /^(users|accounts|endpoints|company-accounts)$/],
  ["calls to the provider", /^fetch$/],
  ["messages to subscribers", /^subscriber\//],
] as const;

/** The start of each period, in seconds since 1970. */
function timesOf({ since, until, period }: Traffic): readonly number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((until - since) / period)) },
    (_, index) => since + index * period,
  );
}

/** The last `seconds` of a traffic. */
function lastPart({ until, queues, ...traffic }: Traffic, seconds: number): Traffic {
  const since = Math.floor((until - seconds) / traffic.period) * traffic.period;
  const cut = (series: Series) => series.filter(([at]) => at >= since);
  const part = queues.map(({ sent, received, ...queue }) => ({
    ...{ ...queue, sent: cut(sent), received: cut(received) },
  }));
  return { ...traffic, since, until, queues: part };
}

/** Messages sent to each group's queues. A period without a value counts as 0. */
function linesOf(traffic: Traffic): readonly Line[] {
  const times = timesOf(traffic);
  return groups.map(([name, isOf]) => {
    const counts = new Map<number, number>();
    for (const queue of traffic.queues.filter((each) => isOf.test(each.name)))
      for (const [at, count] of queue.sent) counts.set(at, (counts.get(at) ?? 0) + count);
    return { name, values: times.map((at) => counts.get(at) ?? 0) };
  });
}

/** Messages a minute over the last ten whole minutes. */
export function perMinute(series: Series, { until }: Pick<Traffic, "until">): number {
  const from = until - 600;
  const sum = series.reduce((total, [at, count]) => (at >= from ? total + count : total), 0);
  return sum / 10;
}

/** The start of the last period with a message, ISO 8601. */
export function lastOf(series: Series): string | undefined {
  const last = series.findLast(([, count]) => count > 0);
  return last === undefined ? undefined : new Date(last[0] * 1000).toISOString();
}
