import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { type Registration, webhookUrlOf } from "../../../domain/reconcile/registrations.ts";
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
  why: "Every webhook is refused with 503. The provider tries each again for some days, then it is lost.",
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
  const findings = misdirected(status.webhooks);
  const unreadable = status.webhooks.find(
    (webhook) => webhook.is === "untold" && !isUnsupported(webhook.reason),
  );
  if (unreadable?.is === "untold") return [...findings, unknownRegistrations(unreadable.reason)];
  return findings;
}

/** The provider need not report what is registered: then it has no such call. */
function isUnsupported(reason: string): boolean {
  return /shows none|answered (404|405|501)\b/.test(reason);
}

function unknownRegistrations(reason: string): Finding {
  return {
    code: "webhooks-unknown",
    severity: isWantOfToken(reason) ? "warning" : "error",
    what: `The provider can't be asked where webhooks go: ${oneLine(reason)}.`,
    why: "Whether webhooks come here is not known.",
    fix: "npx income-events status --section webhooks",
  };
}

/** The function that registers knows the address from its deployment, a person from the outputs. */
export function checkAddress(
  status: RegistrationStatus,
  webhooksUrl: string,
  stage: string,
): readonly Finding[] {
  if (!("webhooks" in status)) return [];
  const other = status.webhooks.find(({ kind, deployed }) => deployed !== webhookUrlOf(webhooksUrl, kind));
  if (other === undefined) return [];
  const what = `The stage registers ${other.deployed}, and the outputs name ${webhookUrlOf(webhooksUrl, other.kind)}.`;
  const why = "The outputs are not those of the last deployment: commands may work on what is not in use.";
  return [{ code: "outputs-outdated", severity: "warning", what, why, fix: deployAgain(stage) }];
}

type Misdirected = Extract<Registration, { readonly is: "elsewhere" | "none" }>;

/** One finding for all kinds that the same command puts right. */
function misdirected(webhooks: readonly Registration[]): readonly Finding[] {
  const wrong = webhooks.filter((one): one is Misdirected => one.is === "elsewhere" || one.is === "none");
  const groups = Map.groupBy(wrong, (webhook) => `${webhook.is} ${registerAgain(webhook)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const kinds = group.map(({ kind }) => kind).join(", ");
    return [
      {
        code: first.is === "none" ? "webhooks-unregistered" : "webhooks-elsewhere",
        severity: "error",
        what:
          first.is === "none"
            ? `No webhook of ${kinds} is registered.`
            : `The webhooks of ${group.map(describeWebhook).join("; those of ")}.`,
        why: `No event of ${kinds} comes until a reconciliation finds what was missed.`,
        fix: registerAgain(first),
      },
    ];
  });
}

function registerAgain(webhook: Misdirected): string {
  const register = "npx income-events webhooks register";
  if (webhook.is === "none") return register;
  const isOwn = URL.parse(webhook.url)?.origin === URL.parse(webhook.deployed)?.origin;
  return isOwn ? register : `${register} --take-over`;
}

function describeWebhook(webhook: Misdirected): string {
  return webhook.is === "none"
    ? webhook.kind
    : `${webhook.kind} go to ${oneLine(webhook.url)}, and not to ${webhook.deployed}`;
}
