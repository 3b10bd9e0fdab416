import type { Context } from "aws-lambda";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { answer, type Event, type Result } from "./admission.ts";

export type Receive = (event: Event, context: Context) => Promise<Result>;

/**
 * Receives webhooks at paths that match no route: in another letter case, or with a trailing or double slash.
 * Other paths get 404, which the API's access log counts.
 */
export function otherPaths(receiverOf: (kind: WebhookKind) => Receive): Receive {
  const receivers = new Map<WebhookKind, Receive>();
  return async (event, context) => {
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
