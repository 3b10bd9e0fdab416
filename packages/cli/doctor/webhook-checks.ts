import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import {
  type Difference,
  differences,
  type Registration,
  webhookUrlOf,
} from "../../../domain/reconcile/registrations.ts";
import { oneLine } from "../core/printable.ts";
import type { RegistrationStatus } from "../status/registration-status.ts";
import { type Check, deployAgain, type Finding, found } from "./finding.ts";
import { isWantOfToken } from "./provider-check.ts";

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
  const unreadable = status.webhooks.find(
    (webhook) => webhook.type === "untold" && !isUnsupported(webhook.reason),
  );
  if (unreadable?.type === "untold") return [...findings, unknownRegistrations(unreadable.reason)];
  return findings;
}

type Differing = { readonly kinds: string; readonly of: Difference };

/** One finding for each field whose registered value differs from this stage's. */
function differing(webhooks: readonly Registration[]): readonly Finding[] {
  return differences.flatMap((of) => {
    const found = webhooks.filter((webhook) => webhook.type === "here" && webhook.differs?.includes(of));
    const kinds = found.map(({ kind }) => kind).join(", ");
    return found.length === 0 ? [] : [differingFinding({ kinds, of })];
  });
}

function differingFinding({ kinds, of }: Differing): Finding {
  const fix = "npx income-events webhooks register";
  const refused = `Each webhook of ${kinds} is refused with 401: the provider drops it, and its event is lost until a reconciliation.`;
  const differ = (what: string, why: string): Finding => ({
    ...{ code: "webhooks-differ", severity: "warning", what, why, fix },
  });
  switch (of) {
    case "unsigned":
      return {
        ...{ code: "webhooks-unsigned", severity: "error", fix },
        what: `The provider does not sign the webhooks of ${kinds}, and this stage accepts only signed ones.`,
        why: refused,
      };
    case "signed":
      return differ(
        `The provider signs the webhooks of ${kinds}, and this stage does not check the signatures.`,
        "Anyone who knows the secret could send them. To check signatures, set the key with secret rotate --signing.",
      );
    case "header":
      return {
        ...{ code: "webhooks-without-secret", severity: "error", fix },
        what: `The registration of ${kinds} lacks the header of the webhooks' secret.`,
        why: refused,
      };
    case "method":
      return differ(`The webhooks of ${kinds} are not sent by POST.`, "Somebody else has registered them.");
    case "enabled":
      return differ(`The webhooks of ${kinds} are not enabled.`, `No events of ${kinds} arrive.`);
  }
}

/** A provider without a call that lists webhooks. */
function isUnsupported(reason: string): boolean {
  return /shows none|answered (404|405|501)\b/.test(reason);
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
            : `The webhooks of ${group.map(describeWebhook).join("; those of ")}.`,
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

function describeWebhook(webhook: Misdirected): string {
  return webhook.type === "none"
    ? webhook.kind
    : `${webhook.kind} go to ${oneLine(webhook.url)}, and not to ${webhook.deployed}`;
}
