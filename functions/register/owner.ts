import type { Call } from "../../adapters/with-token.ts";
import { type Kind, kinds } from "../../domain/events.ts";
import { permanent } from "../../domain/failures.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/parse.ts";

/**
 * Reads what is registered for each kind: `{"url": text, …}`, or nothing.
 * @throws permanent failure where a webhook goes to another address than this stage's
 */
export async function refuseOthers(
  call: Call,
  paths: Readonly<Record<Kind, string>>,
  webhooksUrl: string,
): Promise<void> {
  const own = new URL(webhooksUrl).origin;
  for (const kind of kinds) {
    const answer = await call({ method: "GET", path: paths[kind] });
    if (!answer.found) continue;
    const what = `the registration of ${kind}`;
    const origin = URL.parse(textOf(fieldsOf(parseJson(answer.text, what), what), "url"))?.origin;
    if (origin === undefined) throw permanent(`${what}: its url is no address`);
    if (origin === own) continue;
    throw permanent(
      `the provider sends the webhooks of ${kind} to ${origin}: another stage registers there. Take them over with ` +
        '"webhooks register --take-over", or set register.enabled to false for this stage',
    );
  }
}
