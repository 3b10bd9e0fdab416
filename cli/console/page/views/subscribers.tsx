import { useState } from "preact/hooks";
import type { QueueStatus } from "../../../status/queue-status.ts";
import { useLoaded } from "../api.ts";
import { number, span } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { useStage } from "../stage.ts";
import { Select } from "./trouble.tsx";

export function Subscribers() {
  const { subscribers, paceInSeconds } = useStage();
  const { data, error } = useLoaded<{ readonly queues: readonly QueueStatus[] }>(
    "/api/queues",
    paceInSeconds.queues,
  );
  if (subscribers.length === 0)
    return <p class="empty">Nobody gets anything yet. Add one under subscribers in the stage's settings.</p>;
  return (
    <>
      {subscribers.map(({ name, types }) => (
        <One
          key={name}
          name={name}
          gets={types?.join(", ") ?? "everything"}
          queue={data?.queues.find((queue) => queue.name === `subscriber/${name}`)}
          error={error}
        />
      ))}
    </>
  );
}

type OneProps = {
  readonly name: string;
  readonly gets: string;
  readonly queue: QueueStatus | undefined;
  readonly error: string | undefined;
};

const times = ["1h", "24h", "7d", "30d"];

function One({ name, gets, queue, error }: OneProps) {
  const [since, setSince] = useState("24h");
  const [isScanning, setScanning] = useState(false);
  const { isLocal } = useStage();
  const dead = queue?.deadLetters ?? 0;
  const body = { name, since, scan: isLocal || isScanning };
  return (
    <Panel title={name} error={error}>
      <dl class="numbers numbers-first">
        <Figure name="waiting" value={queue && number(queue.waiting)} />
        <Figure name="in flight" value={queue && number(queue.inFlight)} />
        <Figure
          name="behind by"
          value={queue?.oldestSeconds === undefined ? "—" : span(queue.oldestSeconds)}
        />
        <Figure name="dead letters" value={number(dead)} />
      </dl>
      <p>
        Gets {gets}. Last message <Time at={queue?.lastSentAt} />
      </p>
      {dead > 0 && (
        <p>
          <a href={`/dead-letters?queue=${encodeURIComponent(`subscriber/${name}`)}`}>Its dead letters</a>
        </p>
      )}
      <div class="actions">
        <Action
          label="Send a test message"
          path="/api/subscribers/test"
          body={{ name }}
          says={({ message }) => `Sent: ${idOf(message)}. It announces nothing.`}
        />
        <Select label="Replay since" value={since} of={times} onChange={setSince} />
        {!isLocal && (
          <label class="check">
            <input
              type="checkbox"
              checked={isScanning}
              onChange={({ currentTarget }) => setScanning(currentTarget.checked)}
            />
            the whole table may be read, which is billed
          </label>
        )}
        <Action
          label="Count a replay"
          path="/api/replay/count"
          body={body}
          says={({ messages }) => `It would send ${String(messages)} messages.`}
        />
        <Action
          label="Replay"
          path="/api/replay"
          body={body}
          typed={name}
          warning={
            <p>
              {name} gets what came in the last {since} again, 50 messages a second, with the same ids.
            </p>
          }
          says={({ messages }) => `Sent again: ${String(messages)} messages.`}
        />
      </div>
      <Command line={`npx income-events replay --subscriber ${name} --since ${since} --dry-run`} />
    </Panel>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? "…"}</dd>
    </div>
  );
}

function idOf(message: unknown): string {
  return typeof message === "object" && message !== null && "id" in message ? String(message.id) : "it";
}
