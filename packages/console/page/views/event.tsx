import type { ShownEvent } from "@income-events/cli/commands/events.ts";
import type { TimedStep } from "@income-events/cli/events/event-steps.ts";
import type { EventDeadLetter, EventDocument } from "@income-events/cli/events/event-timeline.ts";
import { useState } from "preact/hooks";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import type { Subject } from "../../../../domain/event/subjects.ts";
import { useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { DocumentPanels, documentPath } from "../document/document.tsx";
import { countText, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Facts, Select } from "../parts/data.tsx";
import { Command, deadLettersPath, Listed, Panel, TextWithTimes, Time } from "../parts/panel.tsx";
import { JsonText, useMasked } from "../parts/payload.tsx";
import { subjectPath } from "../parts/search.tsx";
import { address, searchWords } from "../route.ts";
import { useStage } from "../stage.ts";

type Shown = Partial<Omit<ShownEvent, "event">> & {
  readonly event: IncomeEvent | null;
  readonly deadLetters?: readonly EventDeadLetter[];
};

export function EventPage({ id }: { readonly id: string }) {
  const [isScanning, setScanning] = useState(false);
  const wanted = { id, ...searchWords(), scan: isScanning };
  const { data, error, reload, isRevealed, control } = useMasked<Shown>("/api/event", wanted);
  const event = data?.event ?? undefined;
  return (
    <>
      <p class="id">{id}</p>
      {error !== undefined && (
        <Panel title="Event" error={error}>
          <button type="button" onClick={() => (isScanning ? reload() : setScanning(true))}>
            {isScanning ? "Refresh" : "Search the whole table"}
          </button>
        </Panel>
      )}
      {data === undefined && error === undefined && <p class="quiet">Searching…</p>}
      {event !== undefined && <Received event={event} receipts={data?.receipts ?? 1} />}
      {data?.event === null && (
        <Panel title="Dead letter">
          {(data.deadLetters ?? []).map(({ queue, reason, sentAt }) => (
            <p key={queue}>
              <Time at={sentAt} /> {visible(reason ?? "")}{" "}
              <a href={deadLettersPath(queue, reason)}>Open dead letters of {queue}</a>
            </p>
          ))}
        </Panel>
      )}
      {event !== undefined && data?.subject && <Resend event={event} subject={data.subject} />}
      {data?.timeline !== undefined && (
        <Panel title="Progress">
          <ol class="steps">
            {data.timeline.map(({ step, done, detail }) => (
              <li key={step + detail} class={classOf(step, done)}>
                <b>{step}</b> <TextWithTimes text={detail} />
              </li>
            ))}
          </ol>
        </Panel>
      )}
      <Timeline id={id} />
      {data?.event != null && (
        <Panel title="Body">
          {data.body === undefined ? (
            <p class="empty">The body has expired.</p>
          ) : (
            <>
              <JsonText value={data.body} label={isRevealed ? "The body" : "The body, masked"} />
              {control}
            </>
          )}
        </Panel>
      )}
      {data?.document !== undefined && <ItsDocument of={data.document} />}
      <Command line={commands.event(id)} />
    </>
  );
}

function classOf(step: string, isDone: boolean | undefined): string {
  if (step === "dead letter") return "step-failed";
  if (isDone === undefined) return "step-unknown";
  return isDone ? "step-done" : "step-open";
}

function Received({ event, receipts }: { readonly event: IncomeEvent; readonly receipts: number }) {
  const linked = (kind: string, of: string | undefined) =>
    of && (
      <a class="id" href={subjectPath({ kind, id: of })}>
        {of}
      </a>
    );
  const received = (
    <>
      <Time at={event.receivedAt} /> {receipts === 1 ? "once" : `${receipts} times`}
    </>
  );
  return (
    <Panel title={event.type}>
      <Facts
        of={[
          ["received", received],
          ["user", linked("user", event.userId)],
          ["account", linked("account", event.accountId)],
          ["company-account", linked("company-account", event.companyAccountId)],
          ["endpoint", event.endpoint],
        ]}
      />
    </Panel>
  );
}

/** Sends the event's messages to a subscriber again, with the same ids. */
function Resend({ event, subject }: { readonly event: IncomeEvent; readonly subject: Subject }) {
  const { subscribers } = useStage();
  const names = subscribers.map(({ name }) => name);
  const [subscriber, setSubscriber] = useState(names[0] ?? "");
  if (subscriber === "") return null;
  const { receivedAt } = event;
  const { kind, id } = subject;
  return (
    <Panel title="Resend">
      <div class="actions">
        <Select label="Subscriber" value={subscriber} of={names} onChange={setSubscriber} />
        <Action
          label="Resend"
          path="/api/event/resend"
          body={{ subscriber, receivedAt, [kind]: id }}
          says={({ messages }) => `Sent: ${countText(messages, "message")}, with the same ids.`}
        />
      </div>
    </Panel>
  );
}

/** The document that the event led to, and its changes. */
function ItsDocument({ of: { subject, isOfEvent, ...name } }: { readonly of: EventDocument }) {
  const of = { ...subject, ...name };
  return (
    <>
      <Panel title="Document">
        <p>
          {isOfEvent ? "This event led to " : "Another event led to the current version: "}
          <a href={documentPath(of)}>
            {of.dates === undefined ? of.endpoint : `${of.endpoint} of ${of.dates}`}
          </a>
          , version {of.version}.
        </p>
      </Panel>
      <DocumentPanels of={of} key={JSON.stringify(of)} />
    </>
  );
}

/** The timed steps of an event: its webhook, each call to the provider, each subscriber. */
function Timeline({ id }: { readonly id: string }) {
  const loaded = useLoaded<readonly TimedStep[]>(address("/api/event/steps", { id }));
  return (
    <Panel title="Timeline" error={loaded.error}>
      <Listed
        of={loaded}
        waiting="Reading the functions' logs…"
        empty="No steps in the logs of the last 7 days."
      >
        {(steps) => (
          <>
            <ol class="steps" aria-label="Steps, the earliest first">
              {steps.map(({ at, step, detail, call, againAt, isFailure }, index) => (
                <li
                  key={at + step + index}
                  class={isFailure === true ? "step-failed" : classOf(step, step !== "waits")}
                >
                  <Time at={at} /> <b>{call === undefined ? step : `call ${call} to the provider`}</b>{" "}
                  {visible(detail)}
                  {againAt !== undefined && ", next attempt "}
                  {againAt !== undefined && <Time at={againAt} />}
                </li>
              ))}
            </ol>
            {steps.some(({ step }) => step === "sent") && (
              <p class="quiet">
                Times of delivery are when a message reached the subscriber's queue. Its own logs show when it
                was read.
              </p>
            )}
          </>
        )}
      </Listed>
      <Command line={commands.logs(id)} />
    </Panel>
  );
}
