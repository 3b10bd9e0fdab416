import { loadBreaker } from "../../../adapters/provider/shared-breaker.ts";
import type { Breaker } from "../../../domain/fetch/breaker.ts";
import { oneLine } from "../core/printable.ts";
import { fromNow } from "../core/spans.ts";
import type { RegistrationStatus } from "../status/registration-status.ts";
import type { Check, Examined } from "./finding.ts";

export const providerCheck: Check = {
  name: "the provider",
  examine: async ({ deployment, clients, now, registrations }) => {
    const asked = await registrations();
    return checkProvider(await loadBreaker(clients.dynamodb, deployment.output("TableName")), asked, now);
  },
};

/** What a call fails with for want of a token, which says nothing of the provider. */
export function isWantOfToken(reason: string): boolean {
  return /token/.test(reason);
}

export function checkProvider(breaker: Breaker, registrations: RegistrationStatus, now: Date): Examined {
  const reason = "unknown" in registrations ? registrations.unknown : undefined;
  const isFailing = reason !== undefined && !isWantOfToken(reason);
  const isDown = breaker.opened > 0;
  const isAnswering = "webhooks" in registrations;
  if (isAnswering || !(isFailing || isDown)) {
    const codes = isAnswering ? ["provider-down", "token-refresh-failing"] : ["provider-down"];
    return { findings: [], well: codes.map((code) => ({ code })) };
  }
  const next =
    breaker.openUntil > now.getTime()
      ? ` It is tried again ${fromNow(new Date(breaker.openUntil), now)}.`
      : "";
  return {
    findings: [
      {
        code: "provider-down",
        severity: "error",
        what: `${failureText(isFailing ? reason : undefined)}.${next}`,
        why: "No income data is fetched. Tasks wait, nothing is lost, and all goes on by itself when it is back.",
        fix: "npx income-events status --section provider",
      },
    ],
    well: [],
  };
}

/** A reason names the provider itself where it can. */
function failureText(reason: string | undefined): string {
  if (reason === undefined) return "The provider fails";
  const text = oneLine(reason);
  return text.startsWith("the provider") ? `T${text.slice(1)}` : `The provider fails: ${text}`;
}
