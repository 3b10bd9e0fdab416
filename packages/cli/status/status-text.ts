import type { StackAlarm } from "../../../adapters/aws/stack-alarms.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import type { Difference, Registration } from "../../../domain/reconcile/registrations.ts";
import { tableText } from "../core/table.ts";
import type { Terminal } from "../core/terminal.ts";
import { fromNow, oneLine, periodAgo, spanText } from "../core/text.ts";
import type { RegistrationStatus } from "../provider/registration.ts";
import { alarmName, ignoredText, lastingText, type StageStatus } from "./stage-status.ts";
import type { TokenStatus } from "./token-status.ts";
import type { QueueStatus } from "./work-queues.ts";

export function statusText(
  { stage, region, at, queues, token, registrations, ignored, wrongPaths, alarms }: StageStatus,
  paint: Terminal["paint"] = (_, text) => text,
): string {
  const now = new Date(at);
  const isTokenWell = token.isSet && token.refusal === "none";
  const isRegistered = "webhooks" in registrations && registrations.webhooks.every(isAsRegistered);
  const areAlarmsOff = alarms.every(({ isOn }) => !isOn);
  const rest = [
    ["token", painted(tokenText(token, now), isTokenWell, "red")],
    [
      "webhooks",
      painted(registrationText(registrations), isRegistered || "isLeftToAnother" in registrations, "yellow"),
    ],
    ...(ignored === undefined ? [] : [["ignored", ignoredText(ignored)]]),
    ...(wrongPaths === 0
      ? []
      : [["paths", paint("yellow", `${wrongPaths} requests in 24h led to no kind: see the access log`)]]),
    ["alarms", painted(alarmText(alarms, now), areAlarmsOff, "red")],
  ];
  function painted(text: string, isWell: boolean, format: "red" | "yellow"): string {
    return isWell ? text : paint(format, text);
  }
  return [
    `${stage} (${region}) at ${at}`,
    "",
    queuesText(queues, now),
    "",
    ...rest.map(([name = "", text = ""]) => `${name.padEnd(10)}${text}`),
  ].join("\n");
}

export function queuesText(queues: readonly QueueStatus[], now: Date): string {
  const kinds: readonly string[] = webhookKinds;
  const rows = queues.map((queue) => {
    const { name, waiting, inFlight, oldestSeconds, deadLetters, oldestDeadLetterSeconds, lastSentAt } =
      queue;
    return [
      ...[name, waiting, inFlight, ageText(waiting + inFlight, oldestSeconds)],
      ...[deadLetters, ageText(deadLetters, oldestDeadLetterSeconds)],
      kinds.includes(name) ? lastSentText(lastSentAt, now) : readerText(queue),
    ];
  });
  const head = ["queue", "waiting", "in flight", "oldest", "dead letters", "oldest dead", "last event"];
  return tableText(head, rows);
}

export function readerText({ neverRead }: QueueStatus): string | undefined {
  return neverRead === true ? "never read" : undefined;
}

/** The last message to a queue, according to CloudWatch, which looks back two weeks. */
export function lastSentText(lastSentAt: string | undefined, now: Date): string {
  return lastSentAt === undefined ? "not in 14 days" : periodAgo(new Date(lastSentAt), now);
}

/** The queue has messages, but CloudWatch may not have an age for it yet. */
export function ageText(messages: number, seconds: number | undefined): string | undefined {
  if (messages === 0) return undefined;
  return seconds === undefined ? "?" : spanText(seconds);
}

export function tokenText(token: TokenStatus, now: Date): string {
  if (!token.isSet) return "none is set";
  const { expiresAt, refusal, storedAt } = token;
  const stored = `stored ${fromNow(new Date(storedAt), now)}`;
  const refused = refusal === "none" ? [] : [refusalText(refusal)];
  return [lifetimeText(expiresAt, now), stored, ...refused].join(", ");
}

export function lifetimeText(expiresAt: string | undefined, now: Date): string {
  if (expiresAt === undefined) return "has no end";
  const end = new Date(expiresAt);
  return `${end > now ? "ends" : "ended"} ${fromNow(end, now)}`;
}

export function refusalText(refusal: "noted" | "ended"): string {
  return refusal === "ended" ? "the provider refuses it" : "the provider refused a call with it";
}

export function registrationText(registrations: RegistrationStatus): string {
  if ("isLeftToAnother" in registrations) return "another stage registers them (register.enabled)";
  if ("unknown" in registrations) return `unknown: ${oneLine(registrations.unknown)}`;
  const { webhooks } = registrations;
  const here = webhooks.filter(({ type }) => type === "here");
  const untold = webhooks.filter((webhook) => webhook.type === "untold");
  const others = webhooks
    .filter((webhook) => webhook.type !== "untold" && !isAsRegistered(webhook))
    .map(whereText);
  const [first] = untold;
  if (first === undefined)
    return [`${here.length} of ${webhooks.length} kinds are registered here`, ...others].join("; ");
  // A count that the provider does not report is unknown, not 0.
  const areAll = untold.length === webhooks.length;
  const kinds = areAll ? "all" : untold.map(({ kind }) => kind).join(", ");
  const unknown = `unknown of ${kinds}: ${oneLine(first.reason)}`;
  if (areAll) return unknown;
  return [`${here.length} of ${webhooks.length} kinds are registered here`, ...others, unknown].join("; ");
}

function isAsRegistered(webhook: Registration): boolean {
  return webhook.type === "here" && webhook.differs === undefined;
}

const differenceTexts: Readonly<Record<Difference, string>> = {
  unsigned: "are not signed by the provider",
  header: "lack the header of the secret",
  signed: "are signed and not checked here",
  method: "are not sent by POST",
  enabled: "are not enabled",
};

/** In words, to follow the registered address. */
export function differenceText(differs: readonly Difference[] = []): string {
  return differs.map((each) => `, but ${differenceTexts[each]}`).join("");
}

export function whereText(webhook: Registration): string {
  switch (webhook.type) {
    case "here":
      return `${webhook.kind} go here${differenceText(webhook.differs)}`;
    case "elsewhere":
      return `${webhook.kind} go to ${oneLine(webhook.url)}`;
    case "none":
      return `${webhook.kind} are not registered`;
    case "untold":
      return `of ${webhook.kind} the provider does not say`;
  }
}

/** An alarm may outlast its cause, so only `doctor`, which checks causes, explains it. */
export function alarmText(alarms: readonly StackAlarm[], now: Date): string {
  const on = alarms.filter(({ isOn }) => isOn);
  if (on.length === 0) return `none of ${alarms.length} is on`;
  return [
    `${on.length} of ${alarms.length} on; causes: npx income-events doctor`,
    ...on.map((alarm) => `  ${alarmName(alarm)} ${lastingText(alarm, now)}`),
  ].join("\n");
}
