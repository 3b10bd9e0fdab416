import type { ProviderStatus } from "@income-events/cli/provider/provider-status.ts";
import type { RegistrationStatus } from "@income-events/cli/status/registration-status.ts";
import { get, useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { Action } from "../parts/action.tsx";
import { Facts, Table } from "../parts/data.tsx";
import { Command, Panel, Time } from "../parts/panel.tsx";
import { ProviderHistory } from "../parts/provider-history.tsx";
import { useStage } from "../stage.ts";

export function Provider() {
  const { paceInSeconds } = useStage();
  const { data, error, reload } = useLoaded<ProviderStatus>("/api/provider", paceInSeconds.registrations);
  return (
    <>
      {data === undefined ? (
        <Panel title="Calls" error={error}>
          <p class="quiet">The provider is being asked…</p>
        </Panel>
      ) : (
        <div class="columns">
          <Calls status={data} error={error} />
          <Token token={data.token} onDone={reload} />
        </div>
      )}
      <Registrations />
      <Panel title="Reconciliation">
        <p>Compares the provider's list of users with the table; the schedule does so, too.</p>
        <Action
          label="Reconcile now"
          path="/api/provider/reconcile"
          says={({ listed, drift }) =>
            `Compared ${String(listed)} users; missing or in conflict: ${String(drift)}.`
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
              {breaker.nextProbeAt !== undefined && ", tried again "}
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
              {number(callsInLastMinute)} of {number(requestsPerMinute)} calls
            </>,
          ],
          [
            "15 minutes",
            <>
              {lastAnswers === undefined ? "the logs can't be read" : `${number(lastAnswers.done)} done`}
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
        <p class="bad">None is set.</p>
      )}
      <Action
        label="Refresh now"
        path="/api/provider/refresh"
        onDone={onDone}
        says={({ outcome }) => `The refresher says: ${String(outcome)}.`}
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
  return (
    <Panel title="Where webhooks go" error={error}>
      {status !== undefined && "unknown" in status && (
        <p class="bad">The provider does not say: {status.unknown}</p>
      )}
      {status !== undefined && "isLeftToAnother" in status && <p>Another stage registers them.</p>}
      {status !== undefined && "webhooks" in status && (
        <Table
          columns={["Kind", "Is registered", "Address", "Should be"]}
          classes={{ Address: "id", "Should be": "id" }}
          rows={status.webhooks.map((webhook) => [
            webhook.kind,
            <span class={webhook.is === "here" ? "" : "bad"}>{webhook.is}</span>,
            addressOf(webhook),
            "deployed" in webhook ? webhook.deployed : "—",
          ])}
        />
      )}
      <Action
        label="Register them here"
        path="/api/provider/register"
        onDone={() => void get("/api/registrations?anew=yes").then(reload, reload)}
        says={({ count }) => `Registered: ${String(count)} kinds.`}
      />
      <Command line="npx income-events webhooks register" />
    </Panel>
  );
}

type Webhook = Extract<RegistrationStatus, { readonly webhooks: unknown }>["webhooks"][number];

function addressOf(webhook: Webhook): string {
  switch (webhook.is) {
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
