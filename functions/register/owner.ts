import type { Call } from "../../adapters/provider/with-token.ts";
import { permanent } from "../../domain/core/failures.ts";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { registeredUrl } from "./registered-url.ts";

/**
 * Reads what is registered for each kind.
 * @throws permanent failure where a webhook goes to another address than this stage's
 */
export async function refuseOthers(
  call: Call,
  paths: Readonly<Record<WebhookKind, string>>,
  webhooksUrl: string,
): Promise<void> {
  const own = new URL(webhooksUrl).origin;
  for (const kind of webhookKinds) {
    const url = await registeredUrl(call, paths[kind], kind);
    if (url === undefined) continue;
    const origin = URL.parse(url)?.origin;
    if (origin === undefined) throw permanent(`the registration of ${kind}: its url is no address`);
    if (origin === own) continue;
    throw permanent(
      `the provider sends the webhooks of ${kind} to ${origin}: another stage registers there. Take them over with ` +
        '"webhooks register --take-over", or set register.enabled to false for this stage',
    );
  }
}
