import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { searchWord } from "../route.ts";
import { useStage } from "../stage.ts";
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
  const sinceQuarter = ({ until, period }: Traffic) => Math.floor((until - 15 * 60) / period) * period;
  const shown = data && { ...data, since: span === "15m" ? sinceQuarter(data) : data.since };
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
          <ul class="plain-list plot-names">
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

/** A line for each in one plot, as wide as the page allows; the figures stand beside it. */
function Lines({ label, times, lines }: LinesProps) {
  const top = Math.max(1, ...lines.flatMap(({ values }) => values));
  const last = Math.max(1, times.length - 1);
  const isLong = last * ((times[1] ?? 0) - (times[0] ?? 0)) > 86_400;
  const shownTimes = fifths.map((share) => times[Math.round(share * (times.length - 1))] ?? 0);
  return (
    <div class="plot" role="img" aria-label={label}>
      <p>
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{number(value)}</span>
        ))}
      </p>
      <svg viewBox={`0 0 ${last} ${top}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={`M0,0 H${last} M0,${top / 2} H${last} M0,${top} H${last}`} />
        {lines.map(({ name, values }, index) => (
          <polyline
            key={name}
            class={`plot-line-${index}`}
            points={values.map((value, period) => `${period},${top - value}`).join(" ")}
          />
        ))}
      </svg>
      <p class="plot-times">
        {shownTimes.map((at) => (
          <span key={at}>{(isLong ? day : minute).format(at * 1000)}</span>
        ))}
      </p>
    </div>
  );
}

const fifths = [0, 0.2, 0.4, 0.6, 0.8, 1];
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

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
