import type { Call } from "../../adapters/provider/with-token.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";
import type { WebhookKind } from "../../domain/event/events.ts";

/**
 * Reads where a kind's webhooks go: `{"url": text, …}`.
 * @returns undefined where the provider finds nothing at the path
 * @throws permanent failure where it answers something else
 */
export async function registeredUrl(
  call: Call,
  path: string,
  kind: WebhookKind,
): Promise<string | undefined> {
  const answer = await call({ method: "GET", path });
  if (!answer.found) return undefined;
  const what = `the registration of ${kind}`;
  return textOf(fieldsOf(parseJson(answer.text, what), what), "url");
}
