import type { Context } from "aws-lambda";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { logged } from "../runtime/log.ts";
import { liveDependencies } from "./live.ts";
import { answer, type Event, type Result, receiver } from "./receiver.ts";

/**
 * Receives webhooks at paths that match no route: in another letter case, or with a trailing or double slash.
 * Other paths get 404, which the API's access log counts.
 */
export function otherPaths<Receiver extends (event: Event, context: Context) => Promise<Result>>(
  receiverOf: (kind: WebhookKind) => Receiver,
) {
  const receivers = new Map<WebhookKind, Receiver>();
  return async (event: Event, context: Context): Promise<Result> => {
    const kind = kindOfPath(event.rawPath);
    if (kind === undefined) return answer(404, "not found");
    const receive = receivers.get(kind) ?? receiverOf(kind);
    receivers.set(kind, receive);
    return receive(event, context);
  };
}

/** @returns undefined if the path belongs to no kind */
export function kindOfPath(path: string): WebhookKind | undefined {
  const [webhooks, name, ...more] = path.toLowerCase().split("/").filter(Boolean);
  if (webhooks !== "webhooks" || more.length > 0) return undefined;
  return webhookKinds.find((kind) => kind === name);
}

/** Prefix of a kind's environment variables. */
const prefixOf = (kind: string) => `${kind.toUpperCase().replaceAll("-", "_")}_`;

export const handler = logged(otherPaths((kind) => receiver(kind, liveDependencies(kind, prefixOf(kind)))));
