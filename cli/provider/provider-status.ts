import { callsInLastMinute } from "../../adapters/provider/recent-calls.ts";
import { loadBreaker } from "../../adapters/provider/shared-breaker.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";
import { oneLine } from "../core/printable.ts";
import { fromNow } from "../core/spans.ts";
import { tableText } from "../core/table.ts";
import { type RegistrationStatus, registrationStatus } from "../status/registration-status.ts";
import { tokenText } from "../status/status-text.ts";
import { type TokenStatus, tokenStatus } from "../status/token-status.ts";

/** How the provider is called, and how it answers. */
export type ProviderStatus = {
  /** Whether it is called: `open` after it was found down; then one call probes it at `nextProbeAt`. */
  readonly breaker: {
    readonly state: "closed" | "open";
    readonly timesDown: number;
    readonly nextProbeAt?: string;
  };
  /** Undefined where the provider is not called for webhooks in this stage. */
  readonly answersNow: boolean | undefined;
  readonly answer?: string;
  readonly callsInLastMinute: number;
  readonly requestsPerMinute: number;
  readonly token: TokenStatus;
};

export async function providerStatus(
  deployment: Deployment,
  clients: Clients,
  now: Date,
): Promise<ProviderStatus> {
  const { dynamodb } = clients;
  const table = deployment.output("TableName");
  // First: this call may itself be the probe that finds the provider back.
  const registrations = await registrationStatus(deployment, clients);
  const [breaker, calls, token] = await Promise.all([
    loadBreaker(dynamodb, table),
    callsInLastMinute(dynamodb, table, now),
    tokenStatus(deployment, clients),
  ]);
  const isOpen = breaker.openUntil > 0;
  return {
    breaker: {
      state: isOpen ? "open" : "closed",
      timesDown: breaker.opened,
      ...(isOpen && { nextProbeAt: new Date(breaker.openUntil).toISOString() }),
    },
    ...answerOf(registrations),
    callsInLastMinute: calls,
    requestsPerMinute: Number(deployment.output("ProviderRequestsPerMinute")),
    token,
  };
}

function answerOf(registrations: RegistrationStatus): Pick<ProviderStatus, "answersNow" | "answer"> {
  if ("isLeftToAnother" in registrations) return { answersNow: undefined };
  if ("unknown" in registrations) return { answersNow: false, answer: registrations.unknown };
  return { answersNow: true };
}

/** For people. */
export function providerText(stage: string, status: ProviderStatus, now: Date): string {
  const { breaker, answersNow, answer, callsInLastMinute: calls, requestsPerMinute, token } = status;
  return tableText(
    ["provider", stage],
    [
      [
        "answers",
        answersNow === undefined ? "not asked" : answersNow ? "yes" : `no: ${oneLine(answer ?? "")}`,
      ],
      ["breaker", breakerText(breaker, now)],
      ["calls", `${calls} in the last minute, of ${requestsPerMinute} that the rate allows`],
      ["token", tokenText(token, now)],
    ],
  );
}

function breakerText({ state, timesDown, nextProbeAt }: ProviderStatus["breaker"], now: Date): string {
  if (state === "closed") return "closed: it is called";
  const probe = new Date(nextProbeAt ?? now);
  const next = probe > now ? fromNow(probe, now) : "with the next call";
  const down = timesDown === 0 ? "it asked for a pause" : `found down ${timesDown} times in a row`;
  return `open: nobody calls it, ${down}; it is tried again ${next}`;
}
