import { awsTime } from "../../../adapters/aws/aws-clock.ts";
import { itemReader } from "../../../adapters/dynamodb/batching.ts";
import { loadBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import type { Breaker } from "../../../domain/fetch/breaker.ts";
import type { Run } from "../../../domain/reconcile/reconciliation.ts";
import { oneLine } from "../core/printable.ts";
import { fromNow, spanText } from "../core/spans.ts";
import type { RegistrationStatus } from "../status/registration-status.ts";
import { workQueue } from "../status/work-queues.ts";
import { type Check, type Examined, type Finding, found } from "./finding.ts";

export const providerCheck: Check = {
  name: "the provider",
  examine: async ({ deployment, clients, now, registrations }) => {
    const asked = await registrations();
    const read = itemReader(clients.dynamodb, deployment.output("TableName"));
    return checkProvider(await loadBreaker(read), asked, now);
  },
};

/** The failure of a call without a token; it says nothing about the provider. */
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
    breaker.openUntil > now.getTime() ? ` Next attempt ${fromNow(new Date(breaker.openUntil), now)}.` : "";
  return {
    findings: [
      {
        code: "provider-down",
        severity: "error",
        what: `${failureText(isFailing ? reason : undefined)}.${next}`,
        why: "No income data is fetched. Tasks wait and continue when the provider answers again; nothing is lost.",
        fix: "npx income-events status --section provider",
      },
    ],
    well: [],
  };
}

/** Names the provider unless the reason does. */
function failureText(reason: string | undefined): string {
  if (reason === undefined) return "The provider fails";
  const text = oneLine(reason);
  return text.startsWith("the provider") ? `T${text.slice(1)}` : `The provider fails: ${text}`;
}

/** Tolerance for clock differences and for calls in progress. */
const toleratedInSeconds = 60;

export const clockCheck: Check = {
  name: "this machine's clock",
  examine: async ({ deployment, clients }) => {
    const time = await awsTime(clients.sqs, workQueue(deployment, "users").queueUrl);
    return found(time === undefined ? [] : checkClockSkew(time, new Date()));
  },
};

export function checkClockSkew(aws: Date, own: Date): readonly Finding[] {
  const seconds = (own.getTime() - aws.getTime()) / 1000;
  if (Math.abs(seconds) <= toleratedInSeconds) return [];
  const off = `${spanText(Math.abs(seconds))} ${seconds > 0 ? "ahead of" : "behind"}`;
  return [
    {
      code: "clock-off",
      severity: "warning",
      what: `The clock of this machine is ${off} AWS's.`,
      why: "Ages and expiry times are shown wrong. AWS refuses calls from a difference of five minutes.",
      fix: "sudo timedatectl set-ntp true",
    },
  ];
}

export const reconciliationCheck: Check = {
  name: "the reconciliation",
  examine: async ({ deployment, clients, now }) =>
    checkReconciliation(await checkpoint(clients.dynamodb, deployment.output("TableName")).load(), now),
};

export function checkReconciliation(run: Run | undefined, now: Date): Examined {
  const code = "reconciliation-incomplete";
  if (run?.failure === undefined)
    return { findings: [], well: run === undefined ? [] : [{ code, since: new Date(run.startedAt) }] };
  return {
    findings: [
      {
        code,
        severity: "warning",
        what: `The last reconciliation failed ${fromNow(new Date(run.endedAt ?? run.startedAt), now)}: ${oneLine(run.failure)}.`,
        why: "Data that no webhook announced is missing until the next reconciliation.",
        fix: "npx income-events reconcile now",
      },
    ],
    well: [],
  };
}
