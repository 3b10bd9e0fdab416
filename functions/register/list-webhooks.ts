import type { Call } from "../../adapters/provider/with-token.ts";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { type Registration, registrationAt, webhookUrlOf } from "../../domain/reconcile/registrations.ts";
import { registeredUrl } from "./registered-url.ts";

export type ListDependencies = {
  readonly call: Call;
  /** The provider's path of each kind's webhook. */
  readonly paths: Readonly<Record<WebhookKind, string>>;
  readonly webhooksUrl: string;
  /** Whether the provider is known to report what is registered: then what it doesn't find isn't registered. */
  readonly readsFirst: boolean;
};

/**
 * Reports each kind where the provider sends its webhooks; nothing is changed. A provider that can't be asked now is
 * no failure of this function: who looks must raise no alarm.
 */
export async function listWebhooks(
  dependencies: ListDependencies,
): Promise<{ readonly webhooks: readonly Registration[] } | { readonly unknown: string }> {
  try {
    return { webhooks: await askForAll(dependencies) };
  } catch (error) {
    if (error instanceof FailureError) return { unknown: error.failure.reason };
    throw error;
  }
}

/** @throws failures of the call that another time may not have */
async function askForAll({
  call,
  paths,
  webhooksUrl,
  readsFirst,
}: ListDependencies): Promise<readonly Registration[]> {
  const webhooks: Registration[] = [];
  for (const kind of webhookKinds) {
    const deployed = webhookUrlOf(webhooksUrl, kind);
    const read = await attempt(() => registeredUrl(call, paths[kind], kind));
    if ("reason" in read) webhooks.push({ kind, deployed, is: "untold", reason: read.reason });
    else if (read.url !== undefined) webhooks.push(registrationAt(kind, deployed, read.url));
    else if (readsFirst) webhooks.push({ kind, deployed, is: "none" });
    else webhooks.push({ kind, deployed, is: "untold", reason: "the provider shows none at its path" });
  }
  return webhooks;
}

/** A provider need not answer at all here: the specification only shows how webhooks are written. */
async function attempt(
  read: () => Promise<string | undefined>,
): Promise<{ readonly url: string | undefined } | { readonly reason: string }> {
  try {
    return { url: await read() };
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "permanent") return { reason: failure.reason };
    throw error;
  }
}
