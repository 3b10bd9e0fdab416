import { type Fields, fieldsOf, numberOf, optionalNumber, present, textsOf } from "../core/parse.ts";
import { correlationOf } from "../event/events.ts";
import type { Subject } from "../event/subjects.ts";
import { type Document, isReadSince } from "../fetch/document.ts";
import type { State } from "../state/state.ts";
import type {
  AccountReadiness,
  Announcement,
  missingReasons,
  Reading,
  SettledAccount,
  UserReadiness,
} from "./stored-readiness.ts";

/** Requirements for an account to be ready. A connection keeps its initial settings. */
export type ReadinessSettings = NonNullable<ReturnType<typeof parseReadinessSettings>>;

export const userRules = ["all", "any"] as const;
export type UserRule = (typeof userRules)[number];

/** The endpoint to which `minDays` applies. */
export const endpointOfDays = "income";

/**
 * The awaited documents, as fetch needs them.
 * @returns undefined if the stage does not have the setting. @throws permanent failure naming the field
 */
export function parseAwaited(value: unknown) {
  return value === undefined ? undefined : awaitedIn(fieldsOf(value, "readiness"));
}

function awaitedIn(fields: Fields) {
  return present({
    endpoints: textsOf(fields, "endpoints"),
    /** Days that the `income` document must cover. */
    minDays: optionalNumber(fields, "minDays"),
  });
}

/** @returns undefined if the stage does not have the setting. @throws permanent failure naming the field */
export function parseReadinessSettings(value: unknown) {
  if (value === undefined) return undefined;
  const fields = fieldsOf(value, "readiness");
  return present({
    ...awaitedIn(fields),
    deadlineSeconds: numberOf(fields, "deadlineSeconds"),
    /** Which connected accounts of a user must be ready or incomplete; defaults to `all`. */
    users: userRules.find((rule) => rule === fields.users),
  });
}

/** `ended`: disconnected or deleted. */
export function statusOf({ isConnected, announced, since }: AccountReadiness) {
  if (!isConnected) return "ended";
  return announced?.since === since ? announced.status : "waiting";
}

/** Whether a connection is still waiting for endpoints, according to this record. */
export function isWaitedFor(known: AccountReadiness, since: number): boolean {
  return known.since === since && statusOf(known) === "waiting";
}

/** Whether a state begins a connection that is not tracked yet, so that its documents must be read. */
export function beginsConnection(known: AccountReadiness | undefined, state: State): boolean {
  return newConnectionOf(known, state) !== undefined;
}

/** @returns when the connection began */
function newConnectionOf(known: AccountReadiness | undefined, state: State): number | undefined {
  if (known !== undefined && state.version <= known.stateVersion) return undefined;
  const since = connectedSince(state);
  return since === known?.since ? undefined : since;
}

/**
 * Begins to track a connection.
 * @param documents the account's documents, read consistently after the state
 * @param now as `timeBefore` returns it
 */
export function beginConnection(
  known: AccountReadiness | undefined,
  state: State,
  documents: readonly Document[],
  { settings, now }: { readonly settings: ReadinessSettings; readonly now: number },
): AccountReadiness | undefined {
  const { endpoints, deadlineSeconds, minDays } = settings;
  const since = newConnectionOf(known, state);
  if (since === undefined) return undefined;
  const begun = present<AccountReadiness>({
    subject: state.subject,
    version: (known?.version ?? 0) + 1,
    userId: state.userId,
    stateVersion: state.version,
    isConnected: true,
    isConfirmed: !state.unconfirmed,
    since,
    deadline: since + deadlineSeconds * 1000,
    endpoints,
    minDays,
    readings: {},
    announced: known?.announced,
    correlationId: correlationOf(state.latest),
  });
  return announceReady(withDocuments(begun, documents, now));
}

/** @returns undefined if the state changes nothing or is older than the record */
export function afterState(known: AccountReadiness, state: State): AccountReadiness | undefined {
  if (state.version <= known.stateVersion) return undefined;
  const next = {
    ...known,
    ...present({ userId: state.userId }),
    isConnected: connectedSince(state) === known.since,
    isConfirmed: !state.unconfirmed,
  };
  const isSame =
    next.isConnected === known.isConnected &&
    next.isConfirmed === known.isConfirmed &&
    next.userId === known.userId;
  if (isSame) return undefined;
  return announceReady({ ...next, stateVersion: state.version, version: known.version + 1 });
}

/** @returns undefined if the document changes nothing */
export function afterDocument(
  known: AccountReadiness,
  document: Document,
  now: number,
): AccountReadiness | undefined {
  const status = statusOf(known);
  if (status === "ready" || status === "ended") return undefined;
  const next = withDocuments(known, [document], now);
  return next === known ? undefined : announceReady({ ...next, version: known.version + 1 });
}

/** Reasons why endpoints can't be read, by endpoint. */
export type Failures = Readonly<Record<string, "failing" | "deadLetter" | undefined>>;

/**
 * The result for a connection at its deadline: ready after all, or incomplete.
 * @param state read consistently, as are the documents
 * @returns `settled` if the connection no longer waits; `held` if the account's state is unconfirmed
 */
export function atDeadline(
  known: AccountReadiness | undefined,
  since: number,
  facts: {
    readonly state: State | undefined;
    readonly documents: readonly Document[];
    readonly failures: Failures;
  },
  now: number,
): AccountReadiness | "settled" | "held" {
  const { state, documents, failures } = facts;
  if (known === undefined || !isWaitedFor(known, since)) return "settled";
  if (state === undefined || connectedSince(state) !== since) return "settled";
  if (state.unconfirmed || !known.isConfirmed) return "held";
  const next = { ...withDocuments(known, documents, now), version: known.version + 1 };
  const ready = announceReady(next);
  return statusOf(ready) === "ready" ? ready : announceIncomplete(next, failures);
}

/**
 * Announces a connected account without new data, once until data is new again.
 * @param documents all of the account's
 * @returns undefined if there is nothing to announce
 */
export function afterSilence(
  known: AccountReadiness,
  documents: readonly Pick<Document, "announced">[],
  { staleMillis, now }: { readonly staleMillis: number; readonly now: number },
): AccountReadiness | undefined {
  if (!known.isConnected || !known.isConfirmed) return undefined;
  const since = Math.max(known.since, ...documents.map(({ announced = 0 }) => announced));
  if (now - since < staleMillis || known.stale?.since === since) return undefined;
  const version = known.version + 1;
  return { ...known, version, stale: { version, since, at: now } };
}

/** When a connected account's connection began. */
function connectedSince({ connected, deleted, connection }: State): number | undefined {
  return connected === true && !deleted ? connection?.since : undefined;
}

/** @returns the same object if no document is new */
function withDocuments(
  known: AccountReadiness,
  documents: readonly Document[],
  now: number,
): AccountReadiness {
  const { endpoints, since } = known;
  const readings = new Map(Object.entries(known.readings));
  let isNews = false;
  for (const document of documents) {
    const { endpoint, range, asOf, digest, announced, days } = document;
    const before = readings.get(endpoint);
    const counts = endpoints.includes(endpoint) && range === undefined && isReadSince(document, since, now);
    if (!counts || (before !== undefined && !isNewer(document, before))) continue;
    readings.set(endpoint, present<Reading>({ asOf, digest, announced, days }));
    isNews = true;
  }
  return isNews ? { ...known, readings: Object.fromEntries(readings) } : known;
}

/** Whether a document has newer data, or its days were counted differently. */
function isNewer({ announced = 0, days }: Document, reading: Reading): boolean {
  const { announced: known = 0 } = reading;
  return announced > known || (announced === known && days !== reading.days);
}

/** Announces that an account is ready; returns the same object if it is not. */
function announceReady(readiness: AccountReadiness): AccountReadiness {
  const { isConfirmed, since, readings } = readiness;
  const status = statusOf(readiness);
  if (!isConfirmed || status === "ready" || status === "ended") return readiness;
  if (missingIn(readiness, {}).length > 0) return readiness;
  const at = Math.max(since, ...Object.values(readings).map(({ asOf }) => asOf));
  return announce(readiness, { status: "ready", at, missing: [] });
}

function announceIncomplete(readiness: AccountReadiness, failures: Failures): AccountReadiness {
  const missing = missingIn(readiness, failures);
  return announce(readiness, { status: "incomplete", at: readiness.deadline, missing });
}

function announce(
  readiness: AccountReadiness,
  what: Pick<Announcement, "status" | "at" | "missing">,
): AccountReadiness {
  const { version, since, endpoints, readings } = readiness;
  const documents = endpoints.flatMap((endpoint) => {
    const { digest, announced = 0 } = readings[endpoint] ?? {};
    return digest === undefined ? [] : [{ endpoint, digest, announced }];
  });
  return { ...readiness, announced: { ...what, version, since, documents } };
}

function missingIn(
  { endpoints, readings, minDays }: AccountReadiness,
  failures: Failures,
): Announcement["missing"] {
  return endpoints.flatMap((endpoint) => {
    const reason = reasonOf(readings[endpoint], endpoint === endpointOfDays ? minDays : 0);
    if (reason === undefined) return [];
    const failure = reason === "notAnnounced" ? failures[endpoint] : undefined;
    return [{ endpoint, reason: failure ?? reason }];
  });
}

function reasonOf(reading: Reading | undefined, minDays = 0): (typeof missingReasons)[number] | undefined {
  if (reading === undefined) return "notAnnounced";
  if (reading.digest === undefined) return "none";
  return (reading.days ?? 0) < minDays ? "tooFewDays" : undefined;
}

/** @returns undefined while the account waits or is unconfirmed, and after its connection has ended */
function settledOf(readiness: AccountReadiness): SettledAccount | undefined {
  const { subject, isConfirmed, since } = readiness;
  const status = statusOf(readiness);
  if (!isConfirmed || status === "waiting" || status === "ended") return undefined;
  return { accountId: subject.id, status, since };
}

/** Whether a change of an account's readiness may lead to an announcement about its user. */
export function concernsUser(before: AccountReadiness | undefined, after: AccountReadiness): boolean {
  if (after.userId === undefined) return false;
  const settled = settledOf(after);
  // A new account that waits can only hold an announcement back.
  if (before === undefined) return settled !== undefined || !after.isConnected;
  return (
    before.userId !== after.userId ||
    before.isConnected !== after.isConnected ||
    !isSame(settledOf(before), settled)
  );
}

/**
 * The announcement that follows from a user's accounts.
 * @param accounts of the user, read consistently after `known`
 * @param now milliseconds since 1970
 * @returns undefined if there is nothing to announce, or it was announced already
 */
export function announceUser(
  known: UserReadiness | undefined,
  user: Subject,
  accounts: readonly AccountReadiness[],
  {
    rule,
    now,
    correlationId,
  }: { readonly rule: UserRule; readonly now: number; readonly correlationId: string | undefined },
): UserReadiness | undefined {
  const connected = accounts.filter(({ isConnected }) => isConnected);
  const settled = connected
    .flatMap((account) => settledOf(account) ?? [])
    .toSorted((one, other) => (one.accountId < other.accountId ? -1 : 1));
  if (settled.length === 0 || (rule === "all" && settled.length < connected.length)) return undefined;
  const isKnown =
    known?.accounts.length === settled.length &&
    settled.every((account, index) => isSame(account, known.accounts[index]));
  if (isKnown) return undefined;
  return present<UserReadiness>({
    subject: user,
    version: (known?.version ?? 0) + 1,
    at: now,
    accounts: settled,
    correlationId,
  });
}

function isSame(one: SettledAccount | undefined, other: SettledAccount | undefined): boolean {
  return one?.accountId === other?.accountId && one?.status === other?.status && one?.since === other?.since;
}
