import type { EventAttributes, IncomeEvent } from "../../domain/event/events.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type DocumentRecord, fetched, requestFetch } from "../../domain/fetch/document.ts";
import type { DataName } from "../../domain/fetch/document-name.ts";
import { applyEvent, type State } from "../../domain/state/state.ts";

/** What samples are made of: the same in each release, so that its samples can be compared with the next one's. */
export const noon = new Date("2026-11-21T12:00:00.000Z");
export const at = noon.toISOString();
export const user: Subject = { kind: "user", id: "6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60" };
export const subject: Subject = { kind: "account", id: "0b7d4c1a-2e3f-4a5b-9c6d-7e8f90a1b2c3" };
export const income: DataName = { endpoint: "income" };
export const ranged: DataName = { endpoint: "shifts", range: { start: "2026-01-01", end: "2026-01-31" } };

export const facts: EventAttributes = {
  type: "account.connected",
  userId: user.id,
  accountId: subject.id,
  datasourceId: "uber",
  eventId: "event-1",
  time: at,
  connected: true,
};

export const event: IncomeEvent = { ...facts, id: "sample-of-an-event", kind: "accounts", receivedAt: at };
const endpointEvent: IncomeEvent = {
  type: "endpoint.updated",
  id: "sample-of-an-endpoint-event",
  kind: "endpoints",
  receivedAt: at,
  userId: user.id,
  accountId: subject.id,
  endpoint: "shifts",
  dataAvailable: true,
  dateStart: "2026-01-01",
  dateEnd: "2026-01-31",
};

const requested = present(
  requestFetch(undefined, subject, income, { event: { ...endpointEvent, endpoint: "income" }, receipts: 1 }),
);
export const known: {
  readonly state: State;
  readonly ranged: DocumentRecord;
  readonly fetched: DocumentRecord;
} = {
  state: present(applyEvent(undefined, event, 1)),
  ranged: present(requestFetch(undefined, subject, ranged, { event: endpointEvent, receipts: 1 })),
  fetched: present(fetched(requested, 1, "digest", { at: noon })),
};

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the sample changes nothing");
  return value;
}
