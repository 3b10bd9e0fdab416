import { FailureError, failureOf, isNotReady } from "../../domain/core/failures.ts";
import { signingToRegister } from "../../domain/core/secret-registration.ts";
import {
  differencesIn,
  type Registration,
  registrationAt,
  webhookUrlOf,
} from "../../domain/reconcile/registrations.ts";
import { type RegistrarDependencies, registeredUrl, type ToldWebhook } from "./registrar.ts";

/**
 * Reports where the provider sends each webhook, and changes nothing. An unavailable provider is reported,
 * not thrown: a read must not raise an alarm.
 */
export async function listWebhooks(
  dependencies: RegistrarDependencies,
): Promise<{ readonly webhooks: readonly Registration[] } | { readonly unknown: string }> {
  try {
    return { webhooks: await askForAll(dependencies) };
  } catch (error) {
    if (error instanceof FailureError) return { unknown: error.failure.reason };
    throw error;
  }
}

/** @throws failures of the call that may pass */
async function askForAll(dependencies: RegistrarDependencies): Promise<readonly Registration[]> {
  const { client, webhooks, isNewer, webhooksUrl, secretHeader, readsFirst } = dependencies;
  const isSigned = await expectsSignature(dependencies);
  const registrations: Registration[] = [];
  for (const webhook of webhooks) {
    const kind = webhook.name;
    const deployed = webhookUrlOf(webhooksUrl, kind);
    const read = await attempt(() => registeredUrl(client, webhook, isNewer));
    if ("reason" in read) registrations.push({ kind, deployed, type: "untold", reason: read.reason });
    else if (read.told?.url !== undefined) {
      const differs = differencesIn(read.told.fields ?? {}, { header: secretHeader.name, isSigned });
      registrations.push(registrationAt(kind, deployed, read.told.url, differs));
    } else if (readsFirst || read.told !== undefined) registrations.push({ kind, deployed, type: "none" });
    else
      registrations.push({ kind, deployed, type: "untold", reason: "the provider shows none at its path" });
  }
  return registrations;
}

async function expectsSignature({ readSecret, times, now }: RegistrarDependencies): Promise<boolean> {
  const { secret, since } = await readSecret();
  return secret !== undefined && signingToRegister(secret, since, now(), times).value !== undefined;
}

/** A provider may not support this read: the specification only covers writing webhooks. */
async function attempt(
  read: () => Promise<ToldWebhook | undefined>,
): Promise<{ readonly told: ToldWebhook | undefined } | { readonly reason: string }> {
  try {
    return { told: await read() };
  } catch (error) {
    const failure = failureOf(error);
    if (failure.type === "permanent" || isNotReady(error)) return { reason: failure.reason };
    throw error;
  }
}
