import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import { type Fields, fieldsOf, isFields, parseJson, textOf } from "../../domain/core/parse.ts";
import type { OwnWebhook } from "../../domain/reconcile/registrations.ts";

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
