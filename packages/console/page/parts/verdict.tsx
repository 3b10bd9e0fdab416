import type { Cause } from "@income-events/cli/doctor/causes.ts";
import type { QueueStatus } from "@income-events/cli/status/queue-status.ts";
import { useState } from "preact/hooks";
import { post } from "../api.ts";
import { countText, localTime, visible } from "../format.ts";
import { useStage } from "../stage.ts";
import { Command, deadLettersPath, Time } from "./panel.tsx";

export type Diagnosis = {
  readonly at: string;
  readonly findings: readonly Cause[];
  readonly checked: readonly string[];
};

type Props = {
  readonly diagnosis: Diagnosis | undefined;
  readonly error: string | undefined;
  readonly queues: readonly QueueStatus[];
  readonly onDone: () => void;
};

/** Whether anything is wrong, its cause, and the one thing to do. */
export function Verdict({ diagnosis, error, queues, onDone }: Props) {
  if (diagnosis === undefined)
    return (
      <section class="verdict verdict-waiting" aria-label="Verdict">
        <h2>{error === undefined ? "Checking the stage…" : "Can't check the stage"}</h2>
        <p>{error ?? "Reading queues, functions, token, provider and alarms."}</p>
      </section>
    );
  const open = diagnosis.findings.filter(({ severity }) => severity !== "info");
  const fixed = diagnosis.findings.filter(({ severity }) => severity === "info");
  const [first, ...others] = open;
  const clearing = fixed.flatMap(({ clearsAt = [] }) => clearsAt).toSorted();
  return (
    <section class={`verdict verdict-${first?.severity ?? "well"}`} aria-label="Verdict" aria-live="polite">
      <h2>{first === undefined ? wellText(clearing) : visible(first.what)}</h2>
      <p>{first === undefined ? `${diagnosis.checked.length} checks passed.` : first.why}</p>
      {first !== undefined && <p class="verdict-kept">{keptText(queues)}</p>}
      {error !== undefined && <p class="problem">{error}</p>}
      {first !== undefined && <Remedy cause={first} onDone={onDone} />}
      {first !== undefined && <Consequences of={first} />}
      {others.length > 0 && (
        <section class="others" aria-label="Also wrong">
          <h3>Also wrong ({others.length})</h3>
          <ul class="findings">
            {others.map((cause) => (
              <li key={cause.code + cause.what}>
                <b>{visible(cause.what)}</b> {cause.why}
                <Remedy cause={cause} onDone={onDone} />
                <Consequences of={cause} />
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

/** Problems that the cause's remedy fixes, too. */
function Consequences({ of: { what, follows } }: { readonly of: Cause }) {
  if (follows.length === 0) return null;
  return (
    <div class="consequences">
      <p>{follows.length === 1 ? "Consequence:" : `${follows.length} consequences:`}</p>
      <ul aria-label={`Consequences of: ${visible(what)}`}>
        {follows.map((each) => (
          <li key={each.code + each.what}>{visible(each.what)}</li>
        ))}
      </ul>
    </div>
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

/** The queue of a finding's dead letters. */
function queueOf({ fix }: Cause): string | undefined {
  return / dlq show (\S+)/.exec(fix)?.[1];
}

function Remedy({ cause, onDone }: { readonly cause: Cause; readonly onDone: () => void }) {
  const { isLocal, isWritable } = useStage();
  const [state, setState] = useState<"idle" | "busy" | string>("idle");
  const deed = deeds.find(([code]) => cause.code.startsWith(code))?.[1];
  const path = isWritable && isLocal ? deed?.path : undefined;
  const queue = queueOf(cause);
  const run = async () => {
    if (path === undefined) return;
    setState("busy");
    try {
      await post(path);
      setState("idle");
    } catch (error) {
      setState(error instanceof Error ? error.message : String(error));
    }
    onDone();
  };
  return (
    <div class="remedy">
      {path !== undefined && (
        <button type="button" class="main" disabled={state === "busy"} onClick={run}>
          {deed?.label}
        </button>
      )}
      {queue !== undefined && (
        <a class="button main" href={deadLettersPath(queue)}>
          Open dead letters
        </a>
      )}
      <Command line={cause.fix} />
      {state !== "idle" && state !== "busy" && <p class="problem">{state}</p>}
    </div>
  );
}
