import type { ProviderStatus } from "@income-events/cli/provider/provider-status.ts";
import type { RegistrationStatus } from "@income-events/cli/status/registration-status.ts";
import { get, useLoaded } from "../api.ts";
import { number } from "../format.ts";
import { Action } from "../parts/action.tsx";
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
  return (
    <Panel title="Calls" error={error}>
      <dl class="facts">
        <dt>answers</dt>
        <dd class={answersNow === false ? "bad" : ""}>
          {answersNow === undefined ? "not asked" : answersNow ? "yes" : `no: ${answer ?? ""}`}
        </dd>
        <dt>breaker</dt>
        <dd class={breaker.state === "open" ? "bad" : ""}>
          {breaker.state}
          {breaker.nextProbeAt !== undefined && (
            <>
              , tried again <Time at={breaker.nextProbeAt} />
            </>
          )}
        </dd>
        <dt>last minute</dt>
        <dd>
          <meter
            min={0}
            max={requestsPerMinute}
            value={callsInLastMinute}
            aria-label="Calls of the last minute"
          />{" "}
          {number(callsInLastMinute)} of {number(requestsPerMinute)} calls
        </dd>
        <dt>15 minutes</dt>
        <dd>
          {lastAnswers === undefined ? "the logs can't be read" : `${number(lastAnswers.done)} done`}
          {failed.map(([code, count]) => (
            <span class="bad" key={code}>
              , {code === "none" ? "no answer" : code}: {number(count)}
            </span>
          ))}
        </dd>
      </dl>
      <Command line="npx income-events status --section provider" />
    </Panel>
  );
}

function Token({ token, onDone }: { readonly token: ProviderStatus["token"]; readonly onDone: () => void }) {
  return (
    <Panel title="Token">
      {token.isSet ? (
        <dl class="facts">
          <dt>issued</dt>
          <dd>
            <Time at={token.issuedAt} />
          </dd>
          <dt>ends</dt>
          <dd>
            <Time at={token.expiresAt} />
          </dd>
          <dt>stored by</dt>
          <dd>
            {token.storedBy === "refresh" ? "a refresh" : "an operator"}, <Time at={token.storedAt} />
          </dd>
          <dt>refused</dt>
          <dd class={token.refusal === "none" ? "" : "bad"}>{token.refusal === "none" ? "no" : "yes"}</dd>
        </dl>
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
        <table>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Is registered</th>
              <th scope="col">Address</th>
              <th scope="col">Should be</th>
            </tr>
          </thead>
          <tbody>
            {status.webhooks.map((webhook) => (
              <tr key={webhook.kind}>
                <th scope="row">{webhook.kind}</th>
                <td class={webhook.is === "here" ? "" : "bad"}>{webhook.is}</td>
                <td class="id">{addressOf(webhook)}</td>
                <td class="id">{"deployed" in webhook ? webhook.deployed : "—"}</td>
              </tr>
            ))}
          </tbody>
        </table>
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
