import { awsTime } from "../../../adapters/aws/aws-clock.ts";
import { invokeFunction } from "../../../adapters/aws/client.ts";
import { itemReader } from "../../../adapters/dynamodb/batching.ts";
import { loadBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import type { Breaker } from "../../../domain/fetch/call-limits.ts";
import type { Run } from "../../../domain/reconcile/reconciliation.ts";
import {
  type Difference,
  differences,
  type Registration,
  webhookUrlOf,
} from "../../../domain/reconcile/registrations.ts";
import { fromNow, oneLine, spanText } from "../core/text.ts";
import type { RegistrationStatus } from "../provider/registration.ts";
import { type TokenStatus, tokenStatus } from "../status/token-status.ts";
import { workQueue } from "../status/work-queues.ts";
import {
  type Check,
  deployAgain,
  type Examination,
  type Examined,
  type Finding,
  found,
  setToken,
} from "./finding.ts";

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
  return found([
    {
      code: "provider-down",
      severity: "error",
      what: `${failureText(isFailing ? reason : undefined)}.${next}`,
      why: "No income data is fetched. Tasks wait and continue when the provider answers again; nothing is lost.",
      fix: "npx income-events status --section provider",
    },
  ]);
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
  return found([
    {
      code,
      severity: "warning",
      what: `The last reconciliation failed ${fromNow(new Date(run.endedAt ?? run.startedAt), now)}: ${oneLine(run.failure)}.`,
      why: "Data that no webhook announced is missing until the next reconciliation.",
      fix: "npx income-events reconcile now",
    },
  ]);
}

export const tokenCheck: Check = {
  name: "the provider's token",
  examine: async (examination) => {
    const { now, registrations } = examination;
    // This call shows whether the provider accepts the token now.
    await registrations();
    const token = await tokenStatus(examination);
    if (!token.isSet || token.refusal !== "noted") return checkTokenState(token, now);
    await findOut(examination);
    return checkTokenState(await tokenStatus(examination), now);
  },
};

/**
 * Has the refresher find out why a call was refused, as its next run would. Its failures concern the
 * provider.
 */
async function findOut({ deployment, clients }: Examination): Promise<void> {
  try {
    await invokeFunction(clients.lambda, deployment.output("RefreshFunctionName"), {});
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
  }
}

const nothingFetched = "No income data is fetched. Tasks wait; nothing is lost.";
const fix = setToken;

/** Alarms that end once the token is set and accepted. */
const alarmsOfToken = ["token-missing", "token-at-risk", "token-refresh-failing"];

export function checkTokenState(token: TokenStatus, now: Date): Examined {
  const finding = findingOf(token, now);
  if (finding !== undefined) return found([finding]);
  const since = token.isSet ? new Date(token.storedAt) : now;
  return { findings: [], well: alarmsOfToken.map((code) => ({ code, since })) };
}

function findingOf(token: TokenStatus, now: Date): Finding | undefined {
  const stopped = { severity: "error", why: nothingFetched, fix } as const;
  if (!token.isSet) return { code: "token-missing", what: "No token of the provider is set.", ...stopped };
  const { expiresAt, refusal } = token;
  if (refusal === "ended")
    return { code: "token-refused", what: "The provider refuses the token.", ...stopped };
  const end = expiresAt && new Date(expiresAt);
  if (end && end <= now)
    return { code: "token-expired", what: `The token expired ${fromNow(end, now)}.`, ...stopped };
  if (refusal === "none") return undefined;
  return {
    code: "token-questioned",
    severity: "warning",
    what: "The provider refused a call with the token.",
    why: "Either the token or one path of the provider is wrong. The refresher tests the token.",
    fix: "npx income-events token refresh --now",
  };
}

export const webhookSecretCheck: Check = {
  name: "the webhook secret",
  examine: async ({ deployment, clients }) => {
    const store = webhookSecretStore(clients.secretsManager, deployment.output("WebhookSecretArn"));
    const { secret } = await store.read();
    return found(secret === undefined ? [emptySecret] : []);
  },
};

const emptySecret: Finding = {
  code: "webhook-secret-empty",
  severity: "error",
  what: "The webhook secret is empty.",
  why: "Every webhook is refused with 503. The provider retries each for three days; then it is lost.",
  fix: "npx income-events secret rotate",
};

export const registrationCheck: Check = {
  name: "the webhooks at the provider",
  examine: async ({ deployment, registrations }) => {
    const status = await registrations();
    return found([
      ...checkRegistrations(status),
      ...checkAddress(status, deployment.output("WebhooksUrl"), deployment.stage),
    ]);
  },
};

export function checkRegistrations(status: RegistrationStatus): readonly Finding[] {
  if ("isLeftToAnother" in status) return [];
  if ("unknown" in status) return [unknownRegistrations(status.unknown)];
  const findings = [...misdirected(status.webhooks), ...differing(status.webhooks)];
  const unreadable = status.webhooks.flatMap((webhook) =>
    // A provider without a call that lists webhooks is no problem.
    webhook.type === "untold" && !/shows none|answered (404|405|501)\b/.test(webhook.reason)
      ? [unknownRegistrations(webhook.reason)]
      : [],
  );
  return [...findings, ...unreadable.slice(0, 1)];
}

/** One finding for each field whose registered value differs from this stage's. */
function differing(webhooks: readonly Registration[]): readonly Finding[] {
  const base = {
    code: "webhooks-differ",
    severity: "warning",
    fix: "npx income-events webhooks register",
  } as const;
  return differences.flatMap((of) => {
    const found = webhooks.filter((webhook) => webhook.type === "here" && webhook.differs?.includes(of));
    const kinds = found.map(({ kind }) => kind).join(", ");
    return found.length === 0 ? [] : [{ ...base, ...differenceIn(of, kinds) }];
  });
}

function differenceIn(of: Difference, kinds: string): Pick<Finding, "what" | "why"> & Partial<Finding> {
  const why = `Each webhook of ${kinds} is refused with 401: the provider drops it, and its event is lost until a reconciliation.`;
  const refused = { severity: "error", why } as const;
  switch (of) {
    case "unsigned":
      return {
        ...{ code: "webhooks-unsigned", ...refused },
        what: `The provider does not sign the webhooks of ${kinds}, and this stage accepts only signed ones.`,
      };
    case "signed":
      return {
        what: `The provider signs the webhooks of ${kinds}, and this stage does not check the signatures.`,
        why: "Anyone who knows the secret could send them. To check signatures, set the key with secret rotate --signing.",
      };
    case "header":
      return {
        ...{ code: "webhooks-without-secret", ...refused },
        what: `The registration of ${kinds} lacks the header of the webhooks' secret.`,
      };
    case "method":
      return {
        what: `The webhooks of ${kinds} are not sent by POST.`,
        why: "Somebody else has registered them.",
      };
    case "enabled":
      return { what: `The webhooks of ${kinds} are not enabled.`, why: `No events of ${kinds} arrive.` };
  }
}

function unknownRegistrations(reason: string): Finding {
  return {
    code: "webhooks-unknown",
    severity: isWantOfToken(reason) ? "warning" : "error",
    what: `The webhook registrations are unknown: ${oneLine(reason)}.`,
    why: "It is unknown whether webhooks arrive here.",
    fix: "npx income-events status --section webhooks",
  };
}

/** Compares the registering function's address with the outputs' address. */
export function checkAddress(
  status: RegistrationStatus,
  webhooksUrl: string,
  stage: string,
): readonly Finding[] {
  if (!("webhooks" in status)) return [];
  const other = status.webhooks.find(({ kind, deployed }) => deployed !== webhookUrlOf(webhooksUrl, kind));
  if (other === undefined) return [];
  const what = `The stage registers ${other.deployed}, and the outputs name ${webhookUrlOf(webhooksUrl, other.kind)}.`;
  const why = "The outputs are not from the last deployment: commands may use old resources.";
  return [{ code: "outputs-outdated", severity: "warning", what, why, fix: deployAgain(stage) }];
}

type Misdirected = Extract<Registration, { readonly type: "elsewhere" | "none" }>;

/** One finding for all kinds that the same command fixes. */
function misdirected(webhooks: readonly Registration[]): readonly Finding[] {
  const wrong = webhooks.filter((one): one is Misdirected => one.type === "elsewhere" || one.type === "none");
  const groups = Map.groupBy(wrong, (webhook) => `${webhook.type} ${registerAgain(webhook)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const kinds = group.map(({ kind }) => kind).join(", ");
    return [
      {
        code: first.type === "none" ? "webhooks-unregistered" : "webhooks-elsewhere",
        severity: "error",
        what:
          first.type === "none"
            ? `No webhook of ${kinds} is registered.`
            : `The webhooks of ${group.map(whereOf).join("; those of ")}.`,
        why: `No events of ${kinds} arrive until a reconciliation finds what was missed.`,
        fix: registerAgain(first),
      },
    ];
  });
}

function registerAgain(webhook: Misdirected): string {
  const register = "npx income-events webhooks register";
  if (webhook.type === "none") return register;
  const isOwn = URL.parse(webhook.url)?.origin === URL.parse(webhook.deployed)?.origin;
  return isOwn ? register : `${register} --take-over`;
}

function whereOf(webhook: Misdirected): string {
  const registered = webhook.type === "none" ? "nowhere" : oneLine(webhook.url);
  return `${webhook.kind} go to ${registered}, and not to ${webhook.deployed}`;
}
