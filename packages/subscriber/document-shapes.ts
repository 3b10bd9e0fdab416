import { problemOf } from "./check-value.ts";
import type { ExactNumber, Json } from "./json.ts";
import { list, object, type TypeOf } from "./shape.ts";

const text = { type: "string" } as const;
const number = { type: "number" } as const;
const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" } as const;
/** `2026-11-21 12:00:00`, in UTC, or ISO 8601. */
const time = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}:\\d{2}" } as const;
/** A decimal as text, so that no digit is lost. */
const money = { type: "string", pattern: "^-?\\d+(\\.\\d+)?$" } as const;

const period = { id: text, date_start: day, date_end: day };
const address = object({}, { street: text, city: text, state: text, country: text });

/** The records of each of the provider's default endpoints. */
const records = {
  profile: object(
    { id: text, first_name: text, last_name: text },
    { email: text, phone: text, birth_date: day, address, picture: text },
  ),
  income: object(
    { ...period, paid_at: time, currency: text, gross: money, fees: money, taxes: money, net: money },
    {},
  ),
  employment: object(
    { id: text, employer: text, title: text, type: text, status: text },
    { start_date: day, end_date: { ...day, nullable: true } },
  ),
  activity: object(
    { ...period, pay_period_id: text, currency: text, earnings: money },
    { trips: number, distance_meters: number, duration_seconds: number },
  ),
  assets: object({ id: text, type: text, currency: text, value: money }, {}),
  "banking-info": object(
    { id: text, bank: text, account_type: text },
    { routing_number: text, account_number: text },
  ),
  bonuses: object({ id: text, pay_period_id: text, paid_at: time, currency: text, amount: money }, {}),
  documents: object({ id: text, type: text, file_name: text }, { pay_period_id: text, issued_at: time }),
  performance: object({ id: text }, { rating: number, acceptance_rate: number, completed: number }),
  transactions: object(
    { id: text, type: text, at: time, currency: text, amount: money },
    { pay_period_id: text },
  ),
  trips: object(
    { id: text, started_at: time, ended_at: time, currency: text, fare: money, tip: money },
    { pay_period_id: text, distance_meters: number, duration_seconds: number },
  ),
  vehicles: object({ id: text }, { manufacturer: text, model: text, year: number, license_plate: text }),
  wallet: object({ id: text, currency: text, balance: money, paid_out: money }, {}),
} as const;

type Records = typeof records;

/** An endpoint whose documents are typed here. */
export type Endpoint = keyof Records;

/** A document's records and metadata. Fields that are not listed here are kept. */
export type DocumentOf<Name extends Endpoint> = {
  readonly data: readonly TypeOf<Records[Name]>[];
  readonly account_id?: string;
  readonly endpoint?: string;
  readonly revision?: number | ExactNumber;
  readonly updated_at?: string;
};

/** The schema of an endpoint's documents. The package ships it as JSON Schema. */
export function schemaOf(endpoint: Endpoint) {
  const optional = { account_id: text, endpoint: text, revision: number, updated_at: time };
  return object({ data: list(records[endpoint]) }, optional);
}

function isEndpoint(name: string): name is Endpoint {
  return Object.hasOwn(records, name);
}

export const endpoints: readonly Endpoint[] = Object.keys(records).filter(isEndpoint);

/** @throws Error naming the field that does not match the endpoint's type; it quotes no data */
export function parseDocument<Name extends Endpoint>(endpoint: Name, value: Json): DocumentOf<Name> {
  if (isDocument(endpoint, value)) return value;
  throw new Error(`the document is none of ${endpoint}: ${problemOf(schemaOf(endpoint), value)}`);
}

function isDocument<Name extends Endpoint>(endpoint: Name, value: unknown): value is DocumentOf<Name> {
  return problemOf(schemaOf(endpoint), value) === undefined;
}
