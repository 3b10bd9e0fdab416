import { webhookKinds } from "../../../domain/event/events.ts";
import type { Check } from "./checks.ts";
import { type PlannedEvent, unreadableBody } from "./plan.ts";
import type { Answer, WebhookSender } from "./webhook-sender.ts";

/** An event that was sent, and how often it was answered 202. */
export type SentEvent = { readonly event: PlannedEvent; readonly accepted: number };

const probe = JSON.stringify({ action: "smoke" });

/** Checks that what is no webhook of the provider is refused by each kind's route. */
export async function checkRefusals({ send }: WebhookSender): Promise<readonly Check[]> {
  const refuses = async (name: string, status: number, requests: readonly Promise<Answer>[]) =>
    answeredWith(status, name, await Promise.all(requests));
  return Promise.all(
    webhookKinds.flatMap((kind) => [
      refuses(`${kind}: refuses a webhook without the secret (401)`, 401, [
        send(kind, "POST", "none", probe),
      ]),
      refuses(`${kind}: refuses a webhook with a wrong secret (401)`, 401, [
        send(kind, "POST", "wrong", probe),
      ]),
      refuses(`${kind}: refuses other methods (405)`, 405, [
        send(kind, "GET", "right"),
        send(kind, "DELETE", "right"),
      ]),
    ]),
  );
}

/** Sends all events, some at once, and checks that each is taken. */
export async function sendEvents(
  events: readonly PlannedEvent[],
  { send }: WebhookSender,
): Promise<{ readonly sent: readonly SentEvent[]; readonly checks: readonly Check[] }> {
  const sent = await Promise.all(
    events.map(async (event) => {
      // The provider may use either method, also for one event.
      const methods = Array.from({ length: event.times }, (_, index) => (index % 2 === 0 ? "POST" : "PUT"));
      const answers = await Promise.all(
        methods.map((method) => send(event.kind, method, "right", event.body)),
      );
      return { event, answers, accepted: answers.filter((answer) => answer === 202).length };
    }),
  );
  const checks = webhookKinds.map((kind) => {
    const answers = sent.filter(({ event }) => event.kind === kind).flatMap((each) => each.answers);
    return answeredWith(202, `${kind}: takes webhooks with the secret (202)`, answers);
  });
  return { sent, checks };
}

/** Sends each kind a body that can't be read, and checks that it is taken. */
export async function sendUnreadable(mark: string, { send }: WebhookSender): Promise<readonly Check[]> {
  return Promise.all(
    webhookKinds.map(async (kind) => {
      const answer = await send(kind, "POST", "right", unreadableBody(mark));
      return answeredWith(202, `${kind}: takes a body that is no JSON (202)`, [answer]);
    }),
  );
}

function answeredWith(status: number, name: string, answers: readonly Answer[]): Check {
  return { name, passed: answers.every((answer) => answer === status), seen: answered(answers) };
}

/** `8 × 202, 1 × 503`, with what some answers mean. */
function answered(answers: readonly Answer[]): string {
  const counts = new Map<Answer, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts].map(([answer, count]) => `${count} × ${answer}${hintOf(answer)}`).join(", ");
}

function hintOf(answer: Answer): string {
  switch (answer) {
    case 403:
      return " (does the setting webhooks.sourceAddresses take this machine's address?)";
    case 413:
      return " (is the setting webhooks.maxBodyBytes below 400 KB?)";
    case 429:
      return " (over webhooks.throttle, or the account's; try --at-once 2)";
    case 503:
      return " (over the account's concurrency, or a function that fails; try --at-once 2, and read its log)";
    default:
      return "";
  }
}
