import { outagesIn, outageText } from "@income-events/cli/provider/outages.ts";
import type { ProviderTopic, ProviderTurn } from "@income-events/cli/provider/provider-history.ts";
import type { ProviderStatus } from "@income-events/cli/provider/provider-status.ts";
import type { RegistrationStatus } from "@income-events/cli/provider/registration.ts";
import { get, useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Choice, Facts, Table } from "../parts/data.tsx";
import { Command, Panel, Refresh, Time } from "../parts/panel.tsx";
import { searchWord } from "../route.ts";
import { useStage } from "../stage.ts";

export function Provider() {
  const { paceInSeconds } = useStage();
  const { data, error, reload } = useLoaded<ProviderStatus>("/api/provider", paceInSeconds.registrations);
  return (
    <>
      {data === undefined ? (
        <Panel title="Calls" error={error}>
          <p class="quiet">Asking the provider…</p>
        </Panel>
      ) : (
        <div class="columns">
          <Calls status={data} error={error} />
          <Token token={data.token} onDone={reload} />
        </div>
      )}
      <Registrations />
      <Panel title="Reconciliation">
        <p>Compares the provider's list of users with the table. A schedule does the same.</p>
        <Action
          label="Reconcile now"
          path="/api/provider/reconcile"
          says={({ listed, drift }) =>
            `Compared ${String(listed)} users; missing or different: ${String(drift)}.`
          }
        />
        <Command line="npx income-events reconcile now" />
      </Panel>
      <ProviderHistory />
    </>
  );
}

function Calls({ status, error }: { readonly status: ProviderStatus; readonly error: string | undefined }) {
  const { breaker, answersNow, answer, callsInLastMinute, requestsPerMinute, lastAnswers } = status;
  const failed = Object.entries(lastAnswers?.failed ?? {});
  const answers = answersNow === undefined ? "not asked" : answersNow ? "yes" : `no: ${answer ?? ""}`;
  return (
    <Panel title="Calls" error={error}>
      <Facts
        of={[
          ["answers", <span class={answersNow === false ? "bad" : ""}>{answers}</span>],
          [
            "breaker",
            <span class={breaker.state === "open" ? "bad" : ""}>
              {breaker.state}
              {breaker.nextProbeAt !== undefined && ", next probe "}
              {breaker.nextProbeAt !== undefined && <Time at={breaker.nextProbeAt} />}
            </span>,
          ],
          [
            "last minute",
            <>
              <meter
                min={0}
                max={requestsPerMinute}
                value={callsInLastMinute}
                aria-label="Calls of the last minute"
              />{" "}
              at most {number(callsInLastMinute)} of {number(requestsPerMinute)} calls
            </>,
          ],
          [
            "last 15 minutes",
            <>
              {lastAnswers === undefined ? "can't read the logs" : `${number(lastAnswers.done)} done`}
              {failed.map(([code, count]) => (
                <span class="bad" key={code}>
                  , {code === "none" ? "no answer" : code}: {number(count)}
                </span>
              ))}
            </>,
          ],
        ]}
      />
      <Command line="npx income-events status --section provider" />
    </Panel>
  );
}

function Token({ token, onDone }: { readonly token: ProviderStatus["token"]; readonly onDone: () => void }) {
  return (
    <Panel title="Token">
      {token.isSet ? (
        <Facts
          of={[
            ["issued", <Time at={token.issuedAt} />],
            ["ends", <Time at={token.expiresAt} />],
            [
              "stored by",
              <>
                {token.storedBy === "refresh" ? "a refresh" : "an operator"}, <Time at={token.storedAt} />
              </>,
            ],
            ["refused", token.refusal === "none" ? "no" : <span class="bad">yes</span>],
          ]}
        />
      ) : (
        <p class="bad">No token is set.</p>
      )}
      <Action
        label="Refresh now"
        path="/api/provider/refresh"
        onDone={onDone}
        says={({ outcome }) => `Result: ${String(outcome)}.`}
      />
      <Command line="npx income-events token refresh --now" />
    </Panel>
  );
}

function Registrations() {
  const { data, error, reload } = useLoaded<{ readonly registrations: RegistrationStatus }>(
    "/api/registrations",
    10,
  );
  const status = data?.registrations;
  const areHere =
    status !== undefined && "webhooks" in status && status.webhooks.every(({ type }) => type === "here");
  return (
    <Panel title="Webhook registrations" error={error}>
      {status !== undefined && "unknown" in status && (
        <p class="bad">The provider does not list them: {status.unknown}</p>
      )}
      {status !== undefined && "isLeftToAnother" in status && <p>Another stage registers them.</p>}
      {status !== undefined && "webhooks" in status && (
        <Table
          columns={["Kind", "Registered", "Address", ...(areHere ? [] : ["Expected"])]}
          classes={{ Address: "id", Expected: "id" }}
          rows={status.webhooks.map((webhook) => [
            webhook.kind,
            <span class={webhook.type === "here" && webhook.differs === undefined ? "" : "bad"}>
              {stateOf(webhook)}
            </span>,
            addressOf(webhook),
            ...(areHere ? [] : ["deployed" in webhook ? webhook.deployed : "—"]),
          ])}
        />
      )}
      <Action
        label="Register here"
        path="/api/provider/register"
        onDone={() => void get("/api/registrations?anew=yes").then(reload, reload)}
        says={({ count }) => `Registered: ${String(count)} kinds.`}
      />
      <Command line="npx income-events webhooks register" />
    </Panel>
  );
}

type Webhook = Extract<RegistrationStatus, { readonly webhooks: unknown }>["webhooks"][number];

function stateOf(webhook: Webhook): string {
  if (webhook.type === "untold") return "unknown";
  if (webhook.type !== "here" || webhook.differs === undefined) return webhook.type;
  return `here, different: ${webhook.differs.join(", ")}`;
}

function addressOf(webhook: Webhook): string {
  switch (webhook.type) {
    case "here":
      return webhook.deployed;
    case "elsewhere":
      return webhook.url;
    case "none":
      return "—";
    case "untold":
      return webhook.reason;
  }
}

const titles: Readonly<Record<ProviderTopic, string>> = {
  breaker: "Outages",
  token: "Token history",
  reconciliation: "Reconciliations",
  registration: "Registration history",
};
const empty: Readonly<Record<ProviderTopic, string>> = {
  breaker: "No outages in this period.",
  token: "No changes in this period.",
  reconciliation: "No reconciliations in this period.",
  registration: "No registrations in this period.",
};
const words: Readonly<Record<string, string>> = {
  TOKEN_REFRESHED: "refreshed",
  TOKEN_REFUSED: "refresh refused",
  TOKEN_MISSING: "no token is set",
  RECONCILED: "completed",
  RECONCILIATION_FAILED: "failed",
  RECONCILIATION_PAUSED: "paused until the next run",
  WEBHOOKS_REGISTERED: "registered",
};

/** Log lines about the provider. */
function ProviderHistory() {
  const since = searchWord("since") || "24h";
  const { data, error, reload } = useLoaded<{ readonly turns: readonly ProviderTurn[] }>(
    `/api/provider/history?since=${since}`,
  );
  const of = (topic: ProviderTopic) => data?.turns.filter((turn) => turn.topic === topic);
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice name="since" label="History since" of={["1h", "24h", "7d", "30d"]} fallback="24h" />
        <Refresh onClick={reload} />
      </form>
      <div class="columns">
        <Outages turns={data?.turns} error={error} />
        {(["token", "registration"] as const).map((topic) => (
          <Turns key={topic} topic={topic} turns={of(topic)} error={error} />
        ))}
      </div>
      <Findings turns={of("reconciliation")} error={error} />
      <Command line={commands.provider(since)} />
    </>
  );
}

type TurnsProps = {
  readonly turns: readonly ProviderTurn[] | undefined;
  readonly error: string | undefined;
};

function Turns({ topic, turns, error }: TurnsProps & { readonly topic: ProviderTopic }) {
  return (
    <Panel title={titles[topic]} error={error}>
      {turns === undefined && error === undefined && <p class="quiet">Reading the logs…</p>}
      {turns?.length === 0 && <p class="empty">{empty[topic]}</p>}
      <ol class="log">
        {turns?.map(({ at, code, by, reason }, index) => (
          <li key={at + index}>
            <Time at={at} /> <b>{words[code] ?? code}</b> by {by}
            {reason === undefined ? "" : `: ${visible(reason)}`}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Each outage as one line with its duration. */
function Outages({ turns, error }: TurnsProps) {
  const outages = outagesIn(turns ?? []);
  return (
    <Panel title={titles.breaker} error={error}>
      {turns === undefined && error === undefined && <p class="quiet">Reading the logs…</p>}
      {turns !== undefined && outages.length === 0 && <p class="empty">{empty.breaker}</p>}
      <ol class="log">
        {outages.map((outage) => (
          <li key={outage.from}>
            <Time at={outage.from} /> <b>{visible(outageText(outage, new Date()))}</b>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function whatOf({ code, reason }: ProviderTurn): string {
  return `${words[code] ?? code}${reason === undefined ? "" : `: ${visible(reason)}`}`;
}

const counts = ["listed", "missing", "conflicting", "orphaned", "deleted", "reread", "skipped"];

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function Findings({ turns, error }: TurnsProps) {
  return (
    <Panel title={titles.reconciliation} error={error}>
      {turns === undefined && error === undefined && <p class="quiet">Reading the logs…</p>}
      {turns?.length === 0 && <p class="empty">{empty.reconciliation}</p>}
      {turns !== undefined && turns.length > 0 && (
        <Table
          label="Table of reconciliations"
          columns={["Ended", "Result", ...counts.map(capitalized)]}
          classes={Object.fromEntries(counts.map((name) => [capitalized(name), "figure"]))}
          rows={turns.map((turn) => [
            <Time at={turn.at} />,
            <span class={turn.code === "RECONCILIATION_FAILED" ? "bad" : ""}>{whatOf(turn)}</span>,
            ...counts.map((name) => (turn.counts[name] === undefined ? "—" : number(turn.counts[name]))),
          ])}
        />
      )}
    </Panel>
  );
}
