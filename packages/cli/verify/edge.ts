import { webhookKinds } from "../../../domain/event/events.ts";
import { type Answer, sendWebhook, type Webhook, type WebhookTarget } from "../provider/webhook-sender.ts";
import { type Check, type PlannedEvent, type SentEvent, unmappableBody } from "./plan.ts";

/** Maximum webhooks of one run, however the stage answers. */
const maxWebhooks = 100;

/** Sends webhooks within the run's limits. */
export class WebhookSender {
  /** How many were sent in all, and at most at once. */
  readonly counts = { sent: 0, atOnce: 0 };
  readonly #target: WebhookTarget;
  readonly #lanes: Promise<unknown>[];
  #underWay = 0;

  constructor(target: WebhookTarget, maxAtOnce: number) {
    this.#target = target;
    this.#lanes = Array.from({ length: maxAtOnce }, () => Promise.resolve());
  }

  /** Webhooks of one lane are sent one after another. */
  send(webhook: Webhook): Promise<Answer> {
    if (this.counts.sent === maxWebhooks)
      return Promise.reject(new Error(`a run sends ${maxWebhooks} webhooks at most`));
    const lane = this.counts.sent % this.#lanes.length;
    this.counts.sent += 1;
    const answer = Promise.resolve(this.#lanes[lane]).then(() => this.#sendNow(webhook));
    this.#lanes[lane] = answer;
    return answer;
  }

  async #sendNow(webhook: Webhook): Promise<Answer> {
    this.#underWay += 1;
    this.counts.atOnce = Math.max(this.counts.atOnce, this.#underWay);
    const answer = await sendWebhook(this.#target, webhook);
    this.#underWay -= 1;
    return answer;
  }
}

const probe = JSON.stringify({ action: "smoke" });

/** Requests that the provider would not send, and the status that refuses them. */
const refusals = [
  [401, "a webhook without the secret", { method: "POST", authentication: "none", body: probe }],
  [401, "a webhook with a wrong secret", { method: "POST", authentication: "wrong", body: probe }],
  [405, "other methods", { method: "DELETE", authentication: "right" }],
] as const;

/** Checks that each kind's route refuses requests that the provider would not send. */
export function checkRefusals(sender: WebhookSender): Promise<readonly Check[]> {
  const checks = webhookKinds.flatMap((kind) =>
    refusals.map(([status, what, request]) =>
      checkAnswers(status, `${kind}: refuses ${what} (${status})`, [sender.send({ kind, ...request })]),
    ),
  );
  return Promise.all(checks);
}

/** Sends all events, and an invalid body for each kind, and checks that each is accepted. */
export async function sendEvents(
  events: readonly PlannedEvent[],
  mark: string,
  sender: WebhookSender,
): Promise<{ readonly sent: readonly SentEvent[]; readonly checks: readonly Check[] }> {
  const authentication = "right";
  const sending = events.map(async (event) => {
    // The provider may use either method, even for one event.
    const answers = Array.from({ length: event.times }, (_, index) =>
      sender.send({ ...event, method: index % 2 === 0 ? "POST" : "PUT", authentication }),
    );
    return { event, answers: await Promise.all(answers) };
  });
  const unmappable = webhookKinds.map((kind) =>
    checkAnswers(202, `${kind}: takes a body that names no event (202)`, [
      sender.send({ kind, method: "POST", authentication, body: unmappableBody(mark) }),
    ]),
  );
  const all = await Promise.all(sending);
  const taken = webhookKinds.map((kind) => {
    const answers = all.flatMap((each) => (each.event.kind === kind ? each.answers : []));
    return checkAnswers(202, `${kind}: takes webhooks with the secret (202)`, answers);
  });
  return {
    sent: all.map(({ event, answers }) => ({
      event,
      accepted: answers.filter((each) => each === 202).length,
    })),
    checks: await Promise.all([...taken, ...unmappable]),
  };
}

/** Observed: `8 × 202, 1 × 503`, with explanations of some answers. */
async function checkAnswers(
  status: number,
  name: string,
  requests: readonly (Answer | Promise<Answer>)[],
): Promise<Check> {
  const answers = await Promise.all(requests);
  const seen = [...Map.groupBy(answers, (answer) => answer)]
    .map(([answer, same]) => `${same.length} × ${answer}${hints[answer] ?? ""}`)
    .join(", ");
  return { name, passed: answers.every((answer) => answer === status), seen };
}

const hints: Readonly<Record<Answer, string>> = {
  403: " (does the setting webhooks.sourceAddresses take this machine's address?)",
  413: " (is the setting webhooks.maxBodyBytes below 400 KB?)",
  429: " (over webhooks.throttle, or the account's; try --at-once 2)",
  503: " (over the account's concurrency, or a function that fails; try --at-once 2, and read its log)",
};
