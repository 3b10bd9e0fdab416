import { type EventType, isEventType, type WebhookKind } from "../../../domain/event/events.ts";
import { wordsOf } from "./words.ts";

/** What providers call a change, by ours. */
const verbs = {
  created: [
    "create",
    "created",
    "add",
    "added",
    "new",
    "register",
    "registered",
    "opened",
    "onboarded",
    "signup",
  ],
  updated: ["update", "updated", "change", "changed", "modified", "edited", "refreshed", "synced", "sync"],
  connected: ["connect", "connected", "link", "linked", "activated", "authorized", "reconnected"],
  disconnected: [
    "disconnect",
    "disconnected",
    "unlink",
    "unlinked",
    "revoke",
    "revoked",
    "deactivated",
    "expired",
  ],
  deleted: ["delete", "deleted", "remove", "removed", "destroyed", "erased", "closed", "purged"],
} as const;
/** Said of data rather than of an account. */
const dataVerbs = [
  "available",
  "ready",
  "received",
  "posted",
  "fetched",
  "completed",
  "finished",
  "processed",
];

type Verb = keyof typeof verbs;

const subjects = {
  users: "user",
  accounts: "account",
  endpoints: "endpoint",
  "company-accounts": "company-account",
} as const;

/** What an event's name means for a kind, by the last word that is a verb; undefined where it means nothing known. */
export function meaningOf(kind: WebhookKind, name: string): EventType | undefined {
  const verb = wordsOf(name)
    .map((word) => verbOf(kind, word))
    .findLast((found) => found !== undefined);
  if (verb === undefined) return undefined;
  const type = kind === "endpoints" && verb === "created" ? "endpoint.updated" : `${subjects[kind]}.${verb}`;
  return isEventType(type) ? type : undefined;
}

function verbOf(kind: WebhookKind, word: string): Verb | undefined {
  if (kind === "endpoints" && dataVerbs.includes(word)) return "updated";
  const known = Object.entries(verbs).find(([, words]) => words.some((one) => one === word))?.[0];
  return isVerb(known) ? known : undefined;
}

function isVerb(name: string | undefined): name is Verb {
  return name !== undefined && Object.hasOwn(verbs, name);
}
