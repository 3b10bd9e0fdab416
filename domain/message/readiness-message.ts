import { permanent } from "../core/failures.ts";
import { present } from "../core/parse.ts";
import { nameOf } from "../event/subjects.ts";
import type { AccountReadiness } from "../readiness/account-readiness.ts";
import type { UserReadiness } from "../readiness/user-readiness.ts";
import { hrefOfDocument } from "./document-reference.ts";
import { attributesOf, type MessageOrigin } from "./message.ts";
import type { DataOf, Message } from "./message-schemas.ts";

/**
 * The message of an account's last announcement. Returns the same message until the next announcement.
 * @throws permanent failure if nothing was announced
 */
export function messageOfReadiness(
  { subject, announced, userId, correlationId }: AccountReadiness,
  { source, documentsUrl }: MessageOrigin,
): Message {
  if (announced === undefined) throw permanent("announced: missing");
  const { version, since, at, missing } = announced;
  const common = { source, subject: `${nameOf(subject)}/readiness`, version };
  const time = new Date(at).toISOString();
  const attributes = attributesOf(common, `${common.subject}.${version}`, time, correlationId);
  const documents = announced.documents.map(({ endpoint, digest, announced: number }) => {
    const href = `${hrefOfDocument(subject, { endpoint }, documentsUrl)}?version=${number}`;
    return { endpoint, href, version: String(number), sha256: digest };
  });
  const data = present<DataOf<"account.ready">>({
    accountId: subject.id,
    userId,
    connectedSince: new Date(since).toISOString(),
    documents,
  });
  return announced.status === "ready"
    ? { ...attributes, type: "account.ready", data }
    : { ...attributes, type: "account.incomplete", data: { ...data, missing } };
}

/** The message of an account without new data. @throws permanent failure if nothing was announced */
export function messageOfStale(
  { subject, stale, since, userId, correlationId }: AccountReadiness,
  source: string,
): Message {
  if (stale === undefined) throw permanent("stale: missing");
  const common = { source, subject: `${nameOf(subject)}/readiness`, version: stale.version };
  const time = new Date(stale.at).toISOString();
  return {
    ...attributesOf(common, `${common.subject}.${stale.version}`, time, correlationId),
    type: "account.stale",
    data: present<DataOf<"account.stale">>({
      accountId: subject.id,
      userId,
      connectedSince: new Date(since).toISOString(),
      newestAt: stale.since > since ? new Date(stale.since).toISOString() : undefined,
    }),
  };
}

/** The message of an announcement about a user's accounts. */
export function messageOfUserReadiness(
  { subject, version, at, accounts, correlationId }: UserReadiness,
  source: string,
): Message {
  const common = { source, subject: `${nameOf(subject)}/readiness`, version };
  const time = new Date(at).toISOString();
  return {
    ...attributesOf(common, `${common.subject}.${version}`, time, correlationId),
    type: "user.ready",
    data: {
      userId: subject.id,
      accounts: accounts.map(({ accountId, status, since }) => {
        return { accountId, status, connectedSince: new Date(since).toISOString() };
      }),
    },
  };
}
