import { noToken, type ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { StoredWebhookSecret } from "../../adapters/secrets/webhook-secret.ts";
import { FailureError, permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, isFields, parseJson, textOf } from "../../domain/core/parse.ts";
import {
  type RotationTimes,
  signingToRegister,
  type ValueToRegister,
  valueToRegister,
} from "../../domain/core/secret-registration.ts";
import { headerWith, type SecretHeader, valueOfKind } from "../../domain/core/webhook-secret.ts";
import {
  kindOf,
  type OwnWebhook,
  type WebhookName,
  webhookUrlOf,
} from "../../domain/reconcile/registrations.ts";
import type { Log } from "../runtime/log.ts";

export type RegistrarDependencies = {
  readonly client: Pick<ProviderClient, "call">;
  readonly webhooks: readonly OwnWebhook[];
  /** Whether the provider has interface 0.5: it lists webhooks, and disables those not sent as enabled. */
  readonly isNewer: boolean;
  /** Base URL of the deployed routes, one for each kind. */
  readonly webhooksUrl: string;
  readonly secretHeader: SecretHeader;
  readonly readSecret: () => Promise<StoredWebhookSecret>;
  readonly times: RotationTimes;
  /**
   * Whether the provider is known to report registrations: then one that it doesn't find doesn't exist, and another
   * stage's webhooks are only replaced on request.
   */
  readonly readsFirst: boolean;
  readonly now: () => Date;
  readonly log: Log;
};

/** The result for the caller. */
export type Registration = {
  readonly registered: readonly WebhookName[];
  /** `previous` if the header's value or the signing secret is the previous one. */
  readonly secret: ValueToRegister["type"];
  /** Time until the current value can be registered; absent if it is registered. */
  readonly readyInSeconds?: number;
};

/**
 * Registers each kind's webhook with the provider; a PUT replaces the earlier registration. Each webhook
 * carries its kind's own value of the secret: a new secret's once every receiver accepts it, until then the
 * previous one's. The signing secret, if bodies are signed, follows the same rule. An event
 * `{"takeOver": true}` replaces the webhooks of another stage.
 */
export function registrar(dependencies: RegistrarDependencies): (event?: unknown) => Promise<Registration> {
  return async (event) => {
    try {
      return await register(dependencies, isFields(event) && event.takeOver === true);
    } catch (error) {
      // A newly deployed stage has no token: the token's own alarm says what to do, and the schedule retries.
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

async function register(dependencies: RegistrarDependencies, takesOver: boolean): Promise<Registration> {
  const { client, webhooks, isNewer, webhooksUrl, secretHeader } = dependencies;
  const { readSecret, times, now, log } = dependencies;
  const { secret, since } = await readSecret();
  if (secret === undefined) throw permanent("the webhook secret is empty: set one before registering");
  if (dependencies.readsFirst && !takesOver) await refuseOthers(dependencies);
  const chosen = valueToRegister(secret, since, now(), times.propagationSeconds);
  const signing = signingToRegister(secret, since, now(), times);
  for (const { name, path } of webhooks) {
    const body = {
      url: webhookUrlOf(webhooksUrl, name),
      method: "POST",
      headers: headerWith(secretHeader, valueOfKind(chosen.value, kindOf(name))),
      // A PUT drops what it omits: without the secret, the provider would stop signing bodies.
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
}

/**
 * Checks the current registrations.
 * @throws permanent failure if a webhook goes to an address other than this stage's
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

/** A webhook as the provider reports it; `url` is absent if none is registered. */
export type ToldWebhook = { readonly url?: string; readonly fields?: Fields };

/**
 * Reads the URL that a webhook is sent to. Interface 0.4 may answer `{"url": text, …}` at the webhook's own
 * path. Interface 0.5 lists webhooks at the parent path, each with its type written with underscores.
 * @returns undefined if the provider finds nothing at the path
 * @throws permanent failure if it answers something else
 */
export async function registeredUrl(
  client: Pick<ProviderClient, "call">,
  { name, path }: OwnWebhook,
  isListed: boolean,
): Promise<ToldWebhook | undefined> {
  const end = path.lastIndexOf("/");
  const answer = await client.call({ method: "GET", path: isListed ? path.slice(0, end) : path });
  if (!answer.found) return undefined;
  const what = `the registration of ${name}`;
  const value = parseJson(answer.text, what);
  if (!isListed) return told(fieldsOf(value, what));
  const type = path.slice(end + 1).replaceAll("-", "_");
  const listed = itemsOf(value, what).filter(isFields);
  const isOfType = (given: unknown) => typeof given === "string" && given.replaceAll("-", "_") === type;
  const found = listed.find((each) => isOfType(each.type) && each.enabled !== false);
  return found === undefined ? {} : told(found);
}

function told(fields: Fields): ToldWebhook {
  return { url: textOf(fields, "url"), fields };
}

function itemsOf(value: unknown, what: string): readonly unknown[] {
  const items = Array.isArray(value) ? value : fieldsOf(value, what).data;
  return Array.isArray(items) ? items : [];
}
