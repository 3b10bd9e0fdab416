import type { EventTrial, Trial } from "@income-events/cli/mapping/trial.ts";
import { useEffect, useState } from "preact/hooks";
import { post, textOf, useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import type { DeadLetterAnswer } from "../dead-letters/of-queue.tsx";
import { visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { type Fact, Facts, Select, Table } from "../parts/data.tsx";
import { Command, Panel } from "../parts/panel.tsx";
import { searchWord, setSearch } from "../route.ts";

const ids = {
  account_id: "9c858901-8a57-4791-81fe-4c455b099bc9",
  user_id: "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
};
/** Samples by kind, in the form of the default mapping. */
const samples: Readonly<Record<string, object>> = {
  users: { action: "create_user", data: { id: ids.user_id } },
  accounts: { event: "connect_account", ...ids, connected: true },
  endpoints: { event: "update_endpoint", ...ids, endpoint: "income" },
  "company-accounts": { event: "create_account", account_id: ids.account_id },
};
const sampleOf = (kind: string) => JSON.stringify(samples[kind], undefined, 2);
const kinds = Object.keys(samples);
const millisecondsOfRest = 250;

/** The event of a pasted webhook, or the reason why there is none. */
export function Mapping() {
  const { data, error } = useLoaded<Readonly<Record<string, object>>>("/api/mapping");
  const kind = kinds.find((each) => each === searchWord("kind")) ?? "accounts";
  const [webhook, setWebhook] = useState(sampleOf(kind));
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [trial, setTrial] = useState<Trial | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const own = JSON.stringify(data?.[kind] ?? {}, undefined, 2);
  const mapping = edited ?? own;
  const isEmpty = webhook.trim() === "";
  useEffect(() => {
    if (isEmpty) return undefined;
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        const body = {
          kind,
          webhook,
          ...(edited !== undefined && { mapping: `{${JSON.stringify(kind)}: ${edited}}` }),
        };
        const [first] = await post<readonly Trial[]>("/api/mapping/try", body);
        if (isOver) return;
        setTrial(first);
        setProblem(undefined);
      } catch (failure) {
        if (!isOver) setProblem(textOf(failure));
      }
    }, millisecondsOfRest);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [kind, webhook, edited]);
  const choose = (next: string) => {
    if (webhook === sampleOf(kind)) setWebhook(sampleOf(next));
    setSearch({ kind: next, deadLetter: "" });
    setEdited(undefined);
  };
  return (
    <>
      <div class="filters">
        <Select label="Kind" value={kind} of={kinds} onChange={choose} />
      </div>
      <div class="columns">
        <Panel title="Webhook">
          <DeadLetter kind={kind} onChosen={setWebhook} />
          <Text label="Webhook" value={webhook} onInput={setWebhook} />
        </Panel>
        <Panel title="Mapping" error={error}>
          <Text label="Mapping" value={mapping} onInput={setEdited} />
          {edited !== undefined && edited !== own && (
            <button type="button" onClick={() => setEdited(undefined)}>
              Reset to the settings
            </button>
          )}
        </Panel>
      </div>
      <Panel title="Result" error={isEmpty ? undefined : problem}>
        {isEmpty && (
          <p class="empty">
            Paste the body of a webhook above, as the provider sends it, to see its event or the reason why it
            has none.
          </p>
        )}
        {!isEmpty && problem === undefined && trial !== undefined && <Outcome trial={trial} />}
      </Panel>
      <Command line={commands.mapping(kind)} />
    </>
  );
}

type TextProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
};

function Text({ label, value, onInput }: TextProps) {
  return (
    <textarea
      aria-label={label}
      rows={14}
      value={value}
      spellcheck={false}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

function Outcome({ trial }: { readonly trial: Trial }) {
  if (!("events" in trial)) return <EventOutcome trial={trial} />;
  if (trial.events.length === 0) return <p>The list of events is empty.</p>;
  return trial.events.map((event, index) => (
    <section key={index}>
      <h3>{`Event ${index + 1} of ${trial.events.length}`}</h3>
      <EventOutcome trial={event} />
    </section>
  ));
}

function EventOutcome({ trial }: { readonly trial: EventTrial }) {
  return (
    <>
      {!trial.mapped && <p class="problem">{visible(`No event: ${trial.reason}.`)}</p>}
      {!trial.mapped && <p>{visible(trial.remedy)}</p>}
      {"ignored" in trial && <p>{visible(`Ignored: ${trial.ignored}.`)}</p>}
      {"event" in trial && (
        <Facts
          of={[
            ...Object.entries(trial.event).map(([name, value]): Fact => [name, visible(String(value))]),
            ["identity", <span class="id">{trial.id}</span>],
          ]}
        />
      )}
      {trial.fields.length > 0 && (
        <Table
          columns={["Field", "Result", "Problem"]}
          classes={{ Problem: "bad" }}
          rows={trial.fields.map(({ field, gave, fault }) => [
            field,
            gave === undefined ? "nothing" : visible(JSON.stringify(gave).slice(0, 80)),
            visible(fault ?? ""),
          ])}
        />
      )}
    </>
  );
}

type ChooseProps = { readonly kind: string; readonly onChosen: (body: string) => void };

/** The dead letter in the page's address, whose body the mapping refused. */
function DeadLetter({ kind, onChosen }: ChooseProps) {
  const id = searchWord("deadLetter");
  if (id === "") return null;
  return (
    <div class="actions">
      <Action<DeadLetterAnswer>
        label="Load the dead letter's body"
        path="/api/dead-letters/of/reveal"
        body={{ queue: kind, id }}
        isLook
        isMain
        onDone={({ deadLetters: [deadLetter] }) => {
          const payload = deadLetter?.payload;
          if (payload !== undefined)
            onChosen(typeof payload === "string" ? payload : JSON.stringify(payload, undefined, 2));
        }}
        says={() => "Loaded. The audit trail has an entry."}
      />
    </div>
  );
}
