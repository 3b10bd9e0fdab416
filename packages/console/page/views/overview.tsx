import { spanText } from "@income-events/cli/core/text.ts";
import type { Cause, Diagnosis } from "@income-events/cli/doctor/causes.ts";
import type { Latency } from "@income-events/cli/events/latency.ts";
import type { QueueStatus } from "@income-events/cli/status/work-queues.ts";
import type { StackAlarm } from "../../../../adapters/aws/stack-alarms.ts";
import { type Loaded, useLoaded } from "../api.ts";
import { countText, localTime, number, visible } from "../format.ts";
import { happenings } from "../live.ts";
import { Action } from "../parts/action.tsx";
import { type Fact, Facts, Table } from "../parts/data.tsx";
import { Command, deadLettersPath, Listed, Panel, Period, Time } from "../parts/panel.tsx";
import { Pipeline } from "../parts/pipeline.tsx";
import { Plots } from "../parts/plots.tsx";
import { Ticker } from "../parts/ticker.tsx";
import { useStage } from "../stage.ts";

export function Overview() {
  const { isLocal, dollarsPerHour, paceInSeconds: pace } = useStage();
  const doctor = useLoaded<Diagnosis>("/api/doctor", pace.doctor);
  const status = useLoaded<readonly QueueStatus[]>("/api/queues", pace.queues);
  const alarms = useLoaded<readonly StackAlarm[]>("/api/alarms", pace.alarms);
  const latency = useLoaded<Latency>("/api/latency", pace.alarms);
  const queues = status.data ?? [];
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
      <Verdict of={doctor} queues={queues} />
      <Panel title="Pipeline" error={status.error}>
        <Pipeline queues={queues} provider={provider} />
        <Listed of={status} waiting={reading}>
          {() => <Numbers latency={latency.data} />}
        </Listed>
      </Panel>
      <Plots />
      <Alarms of={alarms} />
      <Panel title="Queues">
        <Listed of={status} waiting={reading}>
          {(all) => <Queues queues={all} />}
        </Listed>
      </Panel>
      <Panel title="Latest events">
        <Ticker most={12} />
      </Panel>
      <p class="quiet">
        {isLocal
          ? "Local stage: no AWS charges."
          : `Reads metrics every ${pace.queues} s while this page is visible: about US$ ${dollarsPerHour.toFixed(3)} an hour for all open pages.`}
      </p>
    </>
  );
}

/** Shown instead of zeros until the first answer. */
const reading = "Reading the queues…";

function Numbers({ latency }: { readonly latency: Latency | undefined }) {
  const aMinuteAgo = new Date(Date.now() - 60_000).toISOString();
  const isOpenForAMinute = performance.now() >= 60_000;
  const received = happenings.value.filter(
    ({ at, what }) => at > aMinuteAgo && what.startsWith("received"),
  ).length;
  const facts: readonly Fact[] = [
    [isOpenForAMinute ? "events in the last minute" : "events since this page was opened", number(received)],
    ["to subscriber p50, 15 min", secondsText(latency?.toSubscriber.p50)],
    ["to subscriber p99, 15 min", secondsText(latency?.toSubscriber.p99)],
    ["to document p50, 15 min", secondsText(latency?.toDocument.p50)],
    ["to document p99, 15 min", secondsText(latency?.toDocument.p99)],
  ];
  return <Facts of={facts} isLarge />;
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

function Alarms({ of: { data: alarms, error } }: { readonly of: Loaded<readonly StackAlarm[]> }) {
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

type VerdictProps = { readonly of: Loaded<Diagnosis>; readonly queues: readonly QueueStatus[] };

/** Whether anything is wrong, its cause, and the one thing to do. */
function Verdict({ of: { data: diagnosis, error, reload }, queues }: VerdictProps) {
  if (diagnosis === undefined)
    return (
      <section class="verdict verdict-waiting" aria-label="Verdict">
        <h2>{error === undefined ? "Checking the stage…" : "Can't check the stage"}</h2>
        <p>{error ?? "Reading queues, functions, token, provider and alarms."}</p>
      </section>
    );
  const fixed = diagnosis.findings.filter(({ severity }) => severity === "info");
  const [first, ...others] = diagnosis.findings.filter((finding) => !fixed.includes(finding));
  const clearing = fixed.flatMap(({ clearsAt = [] }) => clearsAt).toSorted();
  return (
    <section class={`verdict verdict-${first?.severity ?? "well"}`} aria-label="Verdict" aria-live="polite">
      <h2>{first === undefined ? wellText(clearing) : visible(first.what)}</h2>
      <p>{first === undefined ? `${diagnosis.checked.length} checks passed.` : first.why}</p>
      {first !== undefined && (
        <p>
          <b>{keptText(queues)}</b>
        </p>
      )}
      {error !== undefined && <p class="problem">{error}</p>}
      {first !== undefined && <Remedy cause={first} onDone={reload} />}
      {others.length > 0 && (
        <section class="others" aria-label="Also wrong">
          <h3>Also wrong ({others.length})</h3>
          <ul class="findings">
            {others.map((cause) => (
              <li key={cause.code + cause.what}>
                <b>{visible(cause.what)}</b> {cause.why}
                <Remedy cause={cause} onDone={reload} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {fixed.map(({ code, what, clearsAt }) => (
        <p key={code + what} class="quiet">
          {visible(what)} {clearsAt !== undefined && <Time at={clearsAt} />}
        </p>
      ))}
    </section>
  );
}

/** @param clearing when each alarm whose cause is gone ends at the latest, the earliest first */
function wellText(clearing: readonly string[]): string {
  const last = clearing.at(-1);
  if (last === undefined) return "No problems";
  const when = new Date(last) <= new Date() ? "within a minute" : localTime(last);
  return clearing.length === 1
    ? `Fixed: the alarm clears ${when}`
    : `Fixed: ${clearing.length} alarms clear until ${when}`;
}

/** Where events are stored meanwhile. */
function keptText(queues: readonly QueueStatus[]): string {
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting + queue.inFlight, 0);
  const dead = queues.reduce((sum, queue) => sum + queue.deadLetters, 0);
  const words = [
    waiting === 0 ? "No messages waiting" : `${countText(waiting, "message")} waiting`,
    dead === 0 ? "no dead letters" : `${countText(dead, "dead letter")} kept`,
  ];
  return `${words.join(", ")}: nothing is lost.`;
}

type Deed = { readonly label: string; readonly path: string };

/** Remedies that a sandbox offers, by the prefix of a finding's code. */
const deeds: readonly (readonly [code: string, deed: Deed])[] = [
  ["token-", { label: "Set new token", path: "/api/sandbox/token" }],
  ["provider-down", { label: "Recover the sandbox", path: "/api/sandbox/heal" }],
];

/** What to do about a cause, and the problems that this fixes, too. */
function Remedy({ cause, onDone }: { readonly cause: Cause; readonly onDone: () => void }) {
  const { isLocal, isWritable } = useStage();
  const { code, what, fix, follows } = cause;
  const deed = deeds.find(([prefix]) => code.startsWith(prefix))?.[1];
  const [, queue] = / dlq show (\S+)/.exec(fix) ?? [];
  return (
    <>
      <div class="actions">
        {isWritable && isLocal && deed !== undefined && <Action {...deed} isMain onDone={onDone} />}
        {queue !== undefined && (
          <a class="button main" href={deadLettersPath(queue)}>
            Open dead letters
          </a>
        )}
        <Command line={fix} />
      </div>
      {follows.length > 0 && (
        <div class="consequences">
          <p>{follows.length === 1 ? "Consequence:" : `${follows.length} consequences:`}</p>
          <ul aria-label={`Consequences of: ${visible(what)}`}>
            {follows.map((each) => (
              <li key={each.code + each.what}>{visible(each.what)}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
