import type { HistoryLine } from "@income-events/cli/provider/provider-history.ts";
import type { ProviderStatus } from "@income-events/cli/provider/provider-status.ts";
import type { RegistrationStatus } from "@income-events/cli/provider/registration.ts";
import { get, useLoaded } from "../api.ts";
import * as commands from "../commands.ts";
import { number, visible } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Choice, Facts, Table } from "../parts/data.tsx";
import { Command, Listed, Panel, Time } from "../parts/panel.tsx";
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
  const { data: status, error, reload } = useLoaded<RegistrationStatus>("/api/registrations", 10);
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

/** Outages, and what happened to the token, the registrations and in reconciliations. */
function ProviderHistory() {
  const since = searchWord("since") || "24h";
  const loaded = useLoaded<readonly HistoryLine[]>(`/api/provider/history?since=${since}`);
  return (
    <Panel title="History" error={loaded.error} onRefresh={loaded.reload}>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice name="since" label="Since" of={["1h", "24h", "7d", "30d"]} fallback="24h" />
      </form>
      <Listed of={loaded} waiting="Reading the logs…" empty="No outages or other changes in this period.">
        {(history) => (
          <Table
            label="Outages, tokens, reconciliations and registrations, the latest first"
            columns={["Time", "What", "By", "Reason", "Found"]}
            rows={history.map(([at, what, by, reason, found]) => [
              <Time at={at} />,
              <b>{what.toLowerCase().replaceAll("_", " ")}</b>,
              by,
              visible(reason),
              found,
            ])}
          />
        )}
      </Listed>
      <Command line={commands.provider(since)} />
    </Panel>
  );
}
