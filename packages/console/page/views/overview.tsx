import { spanText } from "@income-events/cli/core/spans.ts";
import type { Latency } from "@income-events/cli/events/latency.ts";
import type { QueueStatus } from "@income-events/cli/status/queue-status.ts";
import type { StackAlarm } from "../../../../adapters/aws/stack-alarms.ts";
import { useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { happenings } from "../live.ts";
import { Figure, Table } from "../parts/data.tsx";
import { Panel, Period, Time } from "../parts/panel.tsx";
import { Pipeline } from "../parts/pipeline.tsx";
import { Plots } from "../parts/plots.tsx";
import { Ticker } from "../parts/ticker.tsx";
import { type Diagnosis, Verdict } from "../parts/verdict.tsx";
import { useStage } from "../stage.ts";

export function Overview() {
  const { paceInSeconds: pace } = useStage();
  const doctor = useLoaded<Diagnosis>("/api/doctor", pace.doctor);
  const status = useLoaded<{ readonly queues: readonly QueueStatus[] }>("/api/queues", pace.queues);
  const alarms = useLoaded<{ readonly alarms: readonly StackAlarm[] }>("/api/alarms", pace.alarms);
  const latency = useLoaded<Latency>("/api/latency", pace.alarms);
  const queues = status.data?.queues ?? [];
  const codes = (doctor.data?.findings ?? []).flatMap(({ code, severity }) =>
    severity === "info" ? [] : code,
  );
  const provider = codes.includes("provider-down")
    ? "does not answer"
    : codes.some((code) => code === "token-refused" || code === "token-missing")
      ? "refuses the token"
      : undefined;
  return (
    <>
      <Verdict diagnosis={doctor.data} error={doctor.error} queues={queues} onDone={doctor.reload} />
      <Panel title="Pipeline" error={status.error}>
        <Pipeline queues={queues} provider={provider} />
        {status.data === undefined ? (
          <Asking error={status.error} />
        ) : (
          <Numbers queues={queues} latency={latency.data} />
        )}
      </Panel>
      <Plots />
      <Alarms alarms={alarms.data?.alarms} error={alarms.error} />
      <Panel title="Queues" error={undefined}>
        {status.data === undefined ? <Asking error={status.error} /> : <Queues queues={queues} />}
      </Panel>
      <Panel title="Latest events">
        <Ticker most={12} />
      </Panel>
      <Cost />
    </>
  );
}

/** Shown instead of zeros until the first answer. */
function Asking({ error }: { readonly error: string | undefined }) {
  return error === undefined ? <p class="quiet">Reading the queues…</p> : null;
}

type NumbersProps = { readonly queues: readonly QueueStatus[]; readonly latency: Latency | undefined };

function Numbers({ queues, latency }: NumbersProps) {
  const sum = (of: (queue: QueueStatus) => number) => queues.reduce((total, queue) => total + of(queue), 0);
  const oldest = Math.max(0, ...queues.map(({ oldestSeconds = 0 }) => oldestSeconds));
  const aMinuteAgo = new Date(Date.now() - 60_000).toISOString();
  const received = happenings.value.filter(
    ({ happening: { at, what } }) => at > aMinuteAgo && what.startsWith("received"),
  ).length;
  const facts = [
    ["events in the last minute", number(received)],
    ["to subscriber p50, 15 min", secondsText(latency?.toSubscriber.p50)],
    ["to subscriber p99, 15 min", secondsText(latency?.toSubscriber.p99)],
    ["to document p50, 15 min", secondsText(latency?.toDocument.p50)],
    ["to document p99, 15 min", secondsText(latency?.toDocument.p99)],
    ["waiting", number(sum(({ waiting }) => waiting))],
    ["in flight", number(sum(({ inFlight }) => inFlight))],
    ["oldest", oldest === 0 ? "—" : spanText(oldest)],
    ["dead letters", number(sum(({ deadLetters }) => deadLetters))],
  ] as const;
  return (
    <dl class="numbers">
      {facts.map(([name, value]) => (
        <Figure key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function secondsText(seconds: number | undefined): string {
  return seconds === undefined ? "—" : `${seconds.toFixed(1)} s`;
}

function Queues({ queues }: { readonly queues: readonly QueueStatus[] }) {
  const figures = ["Waiting", "In flight", "Oldest", "Dead letters"];
  return (
    <Table
      label="Queues in numbers"
      columns={["Queue", ...figures, "Last message"]}
      classes={Object.fromEntries(figures.map((name) => [name, "figure"]))}
      rows={queues.map(({ name, waiting, inFlight, oldestSeconds, deadLetters, lastSentAt }) => [
        name,
        number(waiting),
        number(inFlight),
        oldestSeconds === undefined ? "—" : spanText(oldestSeconds),
        deadLetters > 0 ? <span class="bad">{number(deadLetters)}</span> : "0",
        <Period at={lastSentAt} none="not in 14 days" />,
      ])}
    />
  );
}

type AlarmsProps = { readonly alarms: readonly StackAlarm[] | undefined; readonly error: string | undefined };

function Alarms({ alarms, error }: AlarmsProps) {
  const on = (alarms ?? []).filter(({ isOn }) => isOn);
  return (
    <Panel title="Alarms" error={error}>
      {alarms === undefined ? (
        <p class="quiet">Reading the alarms…</p>
      ) : on.length === 0 ? (
        <p>None of {alarms.length} is on.</p>
      ) : (
        <ul class="plain-list">
          {on.map(({ name, entry, since }) => (
            <li key={name}>
              <b class="bad">{entry.replaceAll("-", " ")}</b> since{" "}
              <Time at={since && new Date(since).toISOString()} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Cost() {
  const { isLocal, dollarsPerHour, paceInSeconds } = useStage();
  return (
    <p class="quiet">
      {isLocal
        ? "Local stage: no AWS charges."
        : `Reads metrics every ${paceInSeconds.queues} s while this page is visible: about US$ ${dollarsPerHour.toFixed(3)} an hour for all open pages.`}
    </p>
  );
}
