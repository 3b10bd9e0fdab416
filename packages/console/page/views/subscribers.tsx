import { spanText } from "@income-events/cli/core/text.ts";
import type { Delivery } from "@income-events/cli/events/deliveries.ts";
import type { QueueStatus } from "@income-events/cli/status/work-queues.ts";
import { useState } from "preact/hooks";
import type { Series } from "../../../../adapters/sqs/queue-metrics.ts";
import type { Traffic } from "../../api/overview.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { countText, number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Choice, Facts, Figure, Select, Table } from "../parts/data.tsx";
import { Command, deadLettersPath, Panel, Period, Refresh, Time } from "../parts/panel.tsx";
import { lastOf, perMinute } from "../parts/plots.tsx";
import { eventPath } from "../parts/search.tsx";
import { place, searchWord, setSearch } from "../route.ts";
import { useStage } from "../stage.ts";

export function Subscribers() {
  const { subscribers, paceInSeconds } = useStage();
  const { data, error } = useLoaded<{ readonly queues: readonly QueueStatus[] }>(
    "/api/queues",
    paceInSeconds.queues,
  );
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
          queue={data?.queues.find((queue) => queue.name === `subscriber/${name}`)}
          traffic={traffic.data}
          week={week.data}
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
  readonly traffic: Traffic | undefined;
  readonly week: Traffic | undefined;
  readonly error: string | undefined;
};

const times = ["1h", "24h", "7d", "30d"];

function One({ name, gets, queue, traffic, week, error }: OneProps) {
  const [since, setSince] = useState("24h");
  const [isScanning, setScanning] = useState(false);
  // A replay can be sent only after it was counted.
  const [counted, setCounted] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [pausedId, setPausedId] = useState<string | undefined>(undefined);
  const { isLocal } = useStage();
  const own = trafficOf(name, traffic);
  const ownWeek = trafficOf(name, week);
  const lastRead = queue?.neverRead ? (
    isLocal ? (
      <>
        never: <code>npx income-events local show</code> prints what a reader needs
      </>
    ) : (
      <b class="bad">never</b>
    )
  ) : (
    own &&
    ownWeek && (
      <Period at={lastOf(own.received) ?? lastOf(ownWeek.received)} none="never in the last 7 days" />
    )
  );
  const dead = queue?.deadLetters ?? 0;
  const body = { name, since, scan: isLocal || isScanning };
  return (
    <Panel title={name} error={error}>
      <dl class="numbers">
        <Figure name="waiting" value={queue && number(queue.waiting)} />
        <Figure name="in flight" value={queue && number(queue.inFlight)} />
        <Figure
          name="oldest"
          value={queue?.oldestSeconds === undefined ? "—" : spanText(queue.oldestSeconds)}
        />
        <Figure name="sent per minute" value={own && rateOf(own.sent, traffic)} />
        <Figure name="read per minute" value={own && rateOf(own.received, traffic)} />
        <Figure name="dead letters" value={queue && number(dead)} />
      </dl>
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
        <Action
          label="Send test message"
          path="/api/subscribers/test"
          body={{ name }}
          says={({ message }) => `Sent: ${idOf(message)}. Readers skip it.`}
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

function trafficOf(name: string, traffic: Traffic | undefined) {
  return traffic?.queues.find((each) => each.name === `subscriber/${name}`);
}

/** Over the last ten minutes. */
function rateOf(series: Series, traffic: Traffic | undefined): string {
  const rate = traffic === undefined ? 0 : perMinute(series, traffic);
  return rate === 0 ? "0" : rate < 10 ? rate.toFixed(1) : number(Math.round(rate));
}

function idOf(message: unknown): string {
  return typeof message === "object" && message !== null && "id" in message ? String(message.id) : "it";
}

/** Deliveries to a subscriber's queue, and attempts, the newest first. */
function Deliveries({ name }: { readonly name: string }) {
  const [since, outcome, text] = [searchWord("since") || "1h", searchWord("outcome"), searchWord("text")];
  const path = `/api/deliveries?${new URLSearchParams({ name, since })}`;
  const { data, error, reload } = useLoaded<{ readonly deliveries: readonly Delivery[] }>(path);
  const all = data?.deliveries ?? [];
  const matching = all.filter(
    (delivery) =>
      (outcome === "" || delivery.outcome === outcome) &&
      (text === "" ||
        delivery.events.some((event) => Object.values(event).some((each) => each.includes(text)))),
  );
  const shown = matching.slice(0, maxDeliveries);
  return (
    <Panel title="Messages and attempts" error={error} aside={<Refresh onClick={reload} />}>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice name="since" label="Since" of={["15m", "1h", "6h", "24h", "7d"]} fallback="1h" />
        <Choice
          name="outcome"
          label="Outcome"
          of={[...new Set(all.map((each) => each.outcome))].toSorted()}
        />
        <label>
          Text in the event's id, type or subject
          <input value={text} onInput={({ currentTarget }) => setSearch({ text: currentTarget.value })} />
        </label>
      </form>
      {data === undefined && error === undefined && <p class="quiet">Reading the functions' logs…</p>}
      {data !== undefined && shown.length === 0 && (
        <p class="empty">No deliveries found. Choose a longer period or fewer filters.</p>
      )}
      {shown.length > 0 && (
        <Table
          label="Deliveries, newest first"
          columns={["Time", "Outcome", "Messages", "Events", "Reason"]}
          classes={{ Messages: "figure" }}
          rows={shown.map(({ at, outcome: how, messages, events, reason }) => [
            <Time at={at} />,
            <span class={`tag ${failures.includes(how) ? "tag-failed" : ""}`}>{how}</span>,
            messages === undefined ? "—" : number(messages),
            <EventLinks of={events} />,
            visible(reason ?? ""),
          ])}
        />
      )}
      {matching.length > shown.length && (
        <p class="quiet">
          {number(shown.length)} of {number(matching.length)} deliveries. Choose a shorter period or a filter.
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
