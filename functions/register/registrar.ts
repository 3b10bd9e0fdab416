import { noToken, type ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { StoredWebhookSecret } from "../../adapters/secrets/webhook-secret.ts";
import { FailureError, permanent } from "../../domain/core/failures.ts";
import { isFields } from "../../domain/core/parse.ts";
import {
  headerWith,
  type RotationTimes,
  type SecretHeader,
  signingToRegister,
  type ValueToRegister,
  valueOfKind,
  valueToRegister,
} from "../../domain/core/webhook-secret.ts";
import {
  kindOf,
  type OwnWebhook,
  type WebhookName,
  webhookUrlOf,
} from "../../domain/reconcile/registrations.ts";
import type { Log } from "../runtime/log.ts";
import { registeredUrl } from "./registered-url.ts";

export type RegistrarDependencies = {
  readonly client: Pick<ProviderClient, "call">;
  readonly webhooks: readonly OwnWebhook[];
  /** Whether the provider speaks interface 0.5: it lists webhooks, and disables those that are not sent as enabled. */
  readonly isNewer: boolean;
  /** The deployed address under which each kind has its route. */
  readonly webhooksUrl: string;
  readonly secretHeader: SecretHeader;
  readonly readSecret: () => Promise<StoredWebhookSecret>;
  readonly times: RotationTimes;
  /** Whether the provider says what is registered: then no webhook of another stage is taken unasked. */
  readonly readsFirst: boolean;
  readonly now: () => Date;
  readonly log: Log;
};

/** What whoever invoked the registration is reported. */
export type Registration = {
  readonly registered: readonly WebhookName[];
  /** `previous`: the header's value or the signing secret is the one before. */
  readonly secret: ValueToRegister["type"];
  /** After this time the current value can be registered; absent where it is. */
  readonly readyInSeconds?: number;
};

/**
 * Registers each kind's webhook with the provider: a PUT replaces what was registered before. Each is asked
 * to carry its kind's own value of the secret: those of a new secret once every receiver accepts them, until then those
 * of the previous one. Where bodies are signed it is asked to sign with the signing secret, by the same rule. An event `{"takeOver": true}` takes the
 * webhooks of another stage.
 */
export function registrar(dependencies: RegistrarDependencies): (event?: unknown) => Promise<Registration> {
  const register = registering(dependencies);
  return async (event) => {
    try {
      return await register(event);
    } catch (error) {
      // A stage that was just deployed: the token's own alarm says what to do, and the schedule comes again.
      if (!isScheduled(event) || !isWithoutToken(error)) throw error;
      dependencies.log("WEBHOOKS_NOT_REGISTERED", { reason: noToken });
      return { registered: [], secret: "current" };
    }
  };
}

/** Source: EventBridge user guide, "Scheduled event". */
function isScheduled(event: unknown): boolean {
  return isFields(event) && event["detail-type"] === "Scheduled Event";
}

function isWithoutToken(error: unknown): boolean {
  return error instanceof FailureError && error.failure.reason === noToken;
}

function registering(dependencies: RegistrarDependencies): (event?: unknown) => Promise<Registration> {
  return async (event) => {
    const { client, webhooks, isNewer, webhooksUrl, secretHeader } = dependencies;
    const { readSecret, times, now, log } = dependencies;
    const { secret, since } = await readSecret();
    if (secret === undefined) throw permanent("the webhook secret is empty: set one before registering");
    const takesOver = isFields(event) && event.takeOver === true;
    if (dependencies.readsFirst && !takesOver) await refuseOthers(dependencies);
    const chosen = valueToRegister(secret, since, now(), times.propagationSeconds);
    const signing = signingToRegister(secret, since, now(), times);
    for (const { name, path } of webhooks) {
      const body = {
        url: webhookUrlOf(webhooksUrl, name),
        method: "POST",
        headers: headerWith(secretHeader, valueOfKind(chosen.value, kindOf(name))),
        // What a replacement leaves out is gone: without it the provider would sign no body any more.
        ...(signing.value !== undefined && { secret: signing.value }),
        ...(isNewer && { enabled: true }),
      };
      const answer = await client.call({ method: "PUT", path, body, expects: "acceptance" });
      if (!answer.found)
        throw permanent(`the provider knows no webhook at the path of ${name}; see provider.paths`);
    }
    const registered = webhooks.map(({ name }) => name);
    const count = registered.length;
    const waits = [chosen.type === "previous" ? chosen.readyInSeconds : 0, signing.readyInSeconds ?? 0];
    const readyInSeconds = Math.max(...waits);
    if (readyInSeconds === 0) {
      log("WEBHOOKS_REGISTERED", { count });
      return { registered, secret: "current" };
    }
    log("WEBHOOKS_REGISTERED_PREVIOUS", { count, delayInSeconds: readyInSeconds });
    return { registered, secret: "previous", readyInSeconds };
  };
}

/**
 * Reads what is registered.
 * @throws permanent failure where a webhook goes to another address than this stage's
 */
async function refuseOthers({
  client,
  webhooks,
  isNewer,
  webhooksUrl,
}: RegistrarDependencies): Promise<void> {
  const own = new URL(webhooksUrl).origin;
  for (const webhook of webhooks) {
    const told = await registeredUrl(client, webhook, isNewer);
    if (told?.url === undefined) continue;
    const origin = URL.parse(told.url)?.origin;
    if (origin === undefined) throw permanent(`the registration of ${webhook.name}: its url is no address`);
    if (origin === own) continue;
    throw permanent(
      `the provider sends the webhooks of ${webhook.name} to ${origin}: another stage registers there. Take them over with ` +
        '"webhooks register --take-over", or set register.enabled to false for this stage',
    );
  }
}
