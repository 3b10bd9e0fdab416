import type { StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Attributes, LastChange } from "../../../domain/event/events.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { nameOfData } from "../../../domain/fetch/document.ts";
import { statusOf } from "../../../domain/readiness/readiness.ts";
import type { AccountReadiness, SettledAccount } from "../../../domain/readiness/stored-readiness.ts";
import type { State } from "../../../domain/state/state.ts";
import { tableText } from "../core/table.ts";
import { isoTime, oneLine, printableJson } from "../core/text.ts";
import type { LinkedAccount, ShownData, SubjectRecord } from "./record-lookup.ts";

/** A record for programs, without internal fields. */
export type ShownRecord = ReturnType<typeof recordData>;

export function recordData(
  { subject, state, attributes, readiness, readyAccounts, accounts, documents }: SubjectRecord,
  reveal = false,
) {
  return {
    subject: nameOf(subject),
    state: state === undefined ? null : stateData(state),
    ...(attributes && { attributes: shownAttributes(attributes, reveal) }),
    ...(readiness && { readiness: readinessData(readiness) }),
    ...(readyAccounts && {
      readiness: {
        accounts: readyAccounts.map(({ since, ...each }) => ({ ...each, connectedSince: isoTime(since) })),
      },
    }),
    accounts: accounts.map(({ id, state: known }) => ({
      id,
      state: known === undefined ? null : stateData(known),
    })),
    documents: documents.map(({ document: { endpoint, range, asOf, announced, digest, size } }) =>
      present({
        endpoint,
        range,
        asOf: isoTime(asOf),
        changedAt: announced === undefined ? undefined : isoTime(announced),
        sha256: digest,
        bytes: size,
      }),
    ),
  };
}

function readinessData(readiness: AccountReadiness): object {
  const { since, deadline, announced, stale } = readiness;
  const status = statusOf(readiness);
  return {
    status,
    connectedSince: isoTime(since),
    deadline: isoTime(deadline),
    ...(status === "incomplete" && { missing: announced?.missing }),
    ...(stale && { noNewDataSince: isoTime(stale.since) }),
  };
}

function readinessText(readiness: AccountReadiness): string {
  const { since, deadline, announced } = readiness;
  const status = statusOf(readiness);
  const missing = announced?.missing.map(({ endpoint, reason }) => `${endpoint} (${reason})`).join(", ");
  const more = {
    waiting: `, deadline ${isoTime(deadline)}`,
    incomplete: `, missing ${missing}`,
    ready: "",
    ended: "",
  };
  return oneLine(`readiness: ${status}, connected since ${isoTime(since)}${more[status]}`);
}

export type ShownState = ReturnType<typeof stateData>;

function stateData({ subject: _, processed: __, attributes: ___, latest, ...state }: State) {
  return { ...state, latest: lastChangeOf(latest) };
}

function lastChangeOf(latest: LastChange) {
  return latest.cause === "event"
    ? { cause: latest.cause, id: latest.event.id, type: latest.event.type, outcome: latest.outcome }
    : latest;
}

export function recordText(
  { subject, state, attributes, readiness, readyAccounts, accounts, documents }: SubjectRecord,
  data: readonly ShownData[],
  reveal = false,
): string {
  const parts = [
    oneLine(nameOf(subject)),
    state === undefined ? "no state, only data" : stateText(state),
    ...(attributes === undefined ? [] : [attributesText(shownAttributes(attributes, reveal))]),
    ...(readiness === undefined ? [] : [readinessText(readiness)]),
    ...(readyAccounts === undefined ? [] : [readyText(readyAccounts)]),
    ...(accounts.length === 0 ? [] : ["", tableText(accountHead, accounts.map(accountRow))]),
    ...(documents.length === 0 ? [] : ["", tableText(documentHead, documents.map(documentRow))]),
    ...data.flatMap(({ data: value, ...name }) => [
      "",
      `${oneLine(nameOfData(name, "/"))}:`,
      printableJson(value, 2),
    ]),
  ];
  return parts.join("\n");
}

function readyText(accounts: readonly SettledAccount[]): string {
  return oneLine(`ready: ${accounts.map(({ accountId, status }) => `${accountId} (${status})`).join(", ")}`);
}

function stateText(state: State): string {
  const { version, connected, deleted, unconfirmed, asOf, userId, datasourceId, latest } = state;
  const facts = [
    `version ${version}`,
    ...(connected === undefined ? [] : [connected ? "connected" : "not connected"]),
    ...(deleted ? ["deleted"] : []),
    ...(unconfirmed ? ["unconfirmed: being checked at the provider"] : []),
    ...(asOf === undefined ? [] : [`as of ${asOf}`]),
    ...(userId === undefined ? [] : [`user ${userId}`]),
    ...(datasourceId === undefined ? [] : [`source ${datasourceId}`]),
  ];
  return oneLine(`${facts.join(", ")}; latest: ${lastChangeText(latest)}`);
}

function attributesText(attributes: Attributes): string {
  const shown = Object.entries(attributes).map(([name, value]) => `${name}=${value}`);
  return oneLine(`attributes: ${shown.join(", ") || "none"}`);
}

function lastChangeText(latest: LastChange): string {
  switch (latest.cause) {
    case "event":
      return `${latest.event.type} ${latest.outcome}, event ${latest.event.id}`;
    case "again":
      return "a duplicate event";
    case "answer":
      return `the provider's answer at ${latest.at}`;
  }
}

const accountHead = ["ACCOUNT", "VERSION", "CONNECTED", "DELETED", "UNCONFIRMED"];

function accountRow({ id, state }: LinkedAccount) {
  const shown = (value: boolean | undefined) => (value === undefined ? undefined : value ? "yes" : "no");
  return [id, state?.version, shown(state?.connected), shown(state?.deleted), shown(state?.unconfirmed)];
}

const documentHead = ["ENDPOINT", "DATES", "AS OF", "CHANGED", "BYTES", "SHA-256"];

function documentRow({ document: { endpoint, range, asOf, announced, size, digest } }: StoredDocument) {
  const dates = range && `${range.start}..${range.end}`;
  const changed = announced === undefined ? undefined : isoTime(announced);
  return [endpoint, dates, isoTime(asOf), changed, size, digest];
}

/** A user's attributes, masked unless `reveal`. */
export function shownAttributes(attributes: Attributes, reveal: boolean): Attributes {
  return reveal ? attributes : Object.fromEntries(Object.keys(attributes).map((name) => [name, "(text)"]));
}
