import { spanText } from "@income-events/cli/core/text.ts";
import type { Delivery } from "@income-events/cli/events/deliveries.ts";
import type { QueueStatus } from "@income-events/cli/status/work-queues.ts";
import { useState } from "preact/hooks";
import type { QueueTraffic, Series } from "../../../../adapters/sqs/queue-metrics.ts";
import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { countText, number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Choice, Facts, Select, Table } from "../parts/data.tsx";
import { Command, deadLettersPath, Listed, Panel, Period, Time } from "../parts/panel.tsx";
import { eventPath } from "../parts/search.tsx";
import { address, place, searchWord, setSearch } from "../route.ts";
import { useStage } from "../stage.ts";

export function Subscribers() {
  const { subscribers, paceInSeconds } = useStage();
  const { data, error } = useLoaded<readonly QueueStatus[]>("/api/queues", paceInSeconds.queues);
  const traffic = useLoaded<Traffic>("/api/traffic?span=3h", paceInSeconds.alarms);
  const week = useLoaded<Traffic>("/api/traffic?span=7d", paceInSeconds.alarms);
  if (subscribers.length === 0)
    return <p class="empty">No subscribers. Add one to the stage's setting subscribers.</p>;
  const chosen = decodeURIComponent(place.value.path.split("/")[2] ?? "");
  const shown = subscribers.filter(({ name }) => chosen === "" || name === chosen);
  return (
    <>
      {chosen !== "" && (
        <p>
          <a href="/subscribers">All subscribers</a>
        </p>
      )}
      {shown.length === 0 && <p class="empty">{visible(chosen)} not found among the subscribers.</p>}
      {shown.map(({ name, types }) => (
        <One
          key={name}
          name={name}
          gets={types?.join(", ") ?? "all"}
          queue={ownOf(name, data)}
          traffic={ownOf(name, traffic.data?.queues)}
          until={traffic.data?.until ?? 0}
          week={ownOf(name, week.data?.queues)}
          error={error ?? traffic.error ?? week.error}
        />
      ))}
      {chosen !== "" && shown.length > 0 && <Deliveries name={chosen} />}
    </>
  );
}

type OneProps = {
  readonly name: string;
  readonly gets: string;
  readonly queue: QueueStatus | undefined;
  /** The last 3 hours by the minute, and the last 7 days by the hour. */
  readonly traffic: QueueTraffic | undefined;
  readonly week: QueueTraffic | undefined;
  /** The end of the last 3 hours, in seconds since 1970. */
  readonly until: number;
  readonly error: string | undefined;
};

const times = ["1h", "24h", "7d", "30d"];

function One({ name, gets, queue, traffic, week, until, error }: OneProps) {
  const [since, setSince] = useState("24h");
  const [isScanning, setScanning] = useState(false);
  // A replay can be sent only after it was counted.
  const [counted, setCounted] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [pausedId, setPausedId] = useState<string | undefined>(undefined);
  const { isLocal } = useStage();
  const lastRead = queue?.neverRead ? (
    isLocal ? (
      <>
        never: <code>npx income-events local show</code> prints what a reader needs
      </>
    ) : (
      <b class="bad">never</b>
    )
  ) : (
    traffic &&
    week && <Period at={lastOf(traffic.received) ?? lastOf(week.received)} none="never in the last 7 days" />
  );
  const dead = queue?.deadLetters ?? 0;
  const body = { name, since, scan: isLocal || isScanning };
  return (
    <Panel title={name} error={error}>
      <Facts
        isLarge
        of={[
          ["waiting", queue && number(queue.waiting)],
          ["in flight", queue && number(queue.inFlight)],
          ["oldest", queue?.oldestSeconds === undefined ? "—" : spanText(queue.oldestSeconds)],
          ["sent per minute", traffic && rateOf(traffic.sent, until)],
          ["read per minute", traffic && rateOf(traffic.received, until)],
          ["dead letters", queue && number(dead)],
        ]}
      />
      <Facts
        of={[
          ["types", gets],
          ["last message", queue && <Period at={queue.lastSentAt} none="not in 14 days" />],
          ["last read", lastRead],
        ]}
      />
      {queue !== undefined && queue.lastSentAt === undefined && queue.waiting === 0 && (
        <p class="empty">
          No messages sent yet. Send a test message, or trigger an event: npx income-events trigger
          account.connected
        </p>
      )}
      <p>
        {place.value.path === "/subscribers" && (
          <a href={`/subscribers/${encodeURIComponent(name)}`}>Messages and attempts</a>
        )}
        {dead > 0 && (
          <>
            {" · "}
            <a href={deadLettersPath(`subscriber/${name}`)}>Dead letters</a>
          </>
        )}
      </p>
      <div class="actions">
        <Action<{ readonly message: { readonly id: string } }>
          label="Send test message"
          path="/api/subscribers/test"
          body={{ name }}
          says={({ message }) => `Sent: ${message.id}. Readers skip it.`}
        />
        <Select label="Replay since" value={since} of={times} onChange={setSince} />
        {!isLocal && (
          <label class="check">
            <input
              type="checkbox"
              checked={isScanning}
              onChange={({ currentTarget }) => setScanning(currentTarget.checked)}
            />
            read the whole table, which is billed
          </label>
        )}
        <Action
          label="Count replay"
          path="/api/replay/count"
          body={body}
          onDone={() => setCounted(since)}
          says={({ messages, price }) => `A replay sends ${countText(messages, "message")}. ${String(price)}`}
        />
        <Action
          label={pausedId === undefined ? "Replay" : "Resume replay"}
          path="/api/replay"
          body={{ ...body, ...(pausedId !== undefined && { resume: pausedId }) }}
          typed={name}
          isOff={counted !== since && pausedId === undefined}
          onRunning={setRunning}
          onDone={({ paused, replayId }) => setPausedId(paused === true ? String(replayId) : undefined)}
          warning={
            <p>
              Sends {name} the messages of the last {since} again, 50 a second, with the same ids.
            </p>
          }
          says={({ messages, paused }) =>
            `${paused === true ? "Paused. " : ""}Sent: ${countText(messages, "message")}.`
          }
        />
        {isRunning && (
          <Action label="Pause" path="/api/replay/pause" body={{ name }} says={() => "Pausing."} />
        )}
      </div>
      <Command line={commands.replay({ name, since })} />
    </Panel>
  );
}

function ownOf<T extends { readonly name: string }>(subscriber: string, queues: readonly T[] | undefined) {
  return queues?.find(({ name }) => name === `subscriber/${subscriber}`);
}

/** Messages a minute over the last ten whole minutes. */
function rateOf(series: Series, until: number): string {
  const rate = series.reduce((total, [at, count]) => (at >= until - 600 ? total + count : total), 0) / 10;
  return rate === 0 ? "0" : rate < 10 ? rate.toFixed(1) : number(Math.round(rate));
}

/** The start of the last period with a message, ISO 8601. */
function lastOf(series: Series): string | undefined {
  const last = series.findLast(([, count]) => count > 0);
  return last === undefined ? undefined : new Date(last[0] * 1000).toISOString();
}

/** Deliveries to a subscriber's queue, and attempts, the newest first. */
function Deliveries({ name }: { readonly name: string }) {
  const [since, outcome, text] = [searchWord("since") || "1h", searchWord("outcome"), searchWord("text")];
  const path = address("/api/deliveries", { name, since });
  const { data, error, reload } = useLoaded<readonly Delivery[]>(path);
  const outcomes = new Set(data?.map((each) => each.outcome));
  const matching = data?.filter(
    (delivery) =>
      (outcome === "" || delivery.outcome === outcome) &&
      (text === "" ||
        delivery.events.some((event) => Object.values(event).some((each) => each.includes(text)))),
  );
  return (
    <Panel title="Messages and attempts" error={error} onRefresh={reload}>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice name="since" label="Since" of={["15m", "1h", "6h", "24h", "7d"]} fallback="1h" />
        <Choice name="outcome" label="Outcome" of={[...outcomes].toSorted()} />
        <label>
          Text in the event's id, type or subject
          <input value={text} onInput={({ currentTarget }) => setSearch({ text: currentTarget.value })} />
        </label>
      </form>
      <Listed
        of={{ data: matching, error }}
        waiting="Reading the functions' logs…"
        empty="No deliveries found. Choose a longer period or fewer filters."
      >
        {(deliveries) => (
          <Table
            label="Deliveries, newest first"
            columns={["Time", "Outcome", "Messages", "Events", "Reason"]}
            classes={{ Messages: "figure" }}
            rows={deliveries
              .slice(0, maxDeliveries)
              .map(({ at, outcome: how, messages, events, reason }) => [
                <Time at={at} />,
                <span class={`tag ${failures.includes(how) ? "tag-failed" : ""}`}>{how}</span>,
                messages === undefined ? "—" : number(messages),
                <EventLinks of={events} />,
                visible(reason ?? ""),
              ])}
          />
        )}
      </Listed>
      {matching !== undefined && matching.length > maxDeliveries && (
        <p class="quiet">
          {maxDeliveries} of {number(matching.length)} deliveries. Choose a shorter period or a filter.
        </p>
      )}
      <p class="quiet">
        One row is one delivery: its messages come from the listed events, or from data that was fetched
        because of them. If the subscriber has a filter, at most that many messages were sent.
      </p>
      <Command line={commands.tailSubscriber(name)} />
    </Panel>
  );
}

const maxDeliveries = 50;
const maxLinks = 5;
const failures = ["parked", "refused", "unreachable"];

function EventLinks({ of }: { readonly of: Delivery["events"] }) {
  if (of.length === 0) return "—";
  return (
    <>
      {of.slice(0, maxLinks).map(({ id, type, loggedAs = "", subject = "" }) => {
        const [kind = "", whose = ""] = subject.split("/");
        return (
          <p key={id}>
            <a href={eventPath(id, { kind, id: whose })}>{type ?? id.slice(0, 12)}</a>{" "}
            <span class="id">{visible(subject || loggedAs)}</span>
          </p>
        );
      })}
      {of.length > maxLinks && <p class="quiet">{number(of.length - maxLinks)} more</p>}
    </>
  );
}
