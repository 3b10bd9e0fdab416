import { createCipheriv, createHash } from "node:crypto";
import type { DataVersion } from "../accounts.ts";
import type { EndpointName } from "../endpoint-names.ts";
import { formatDate, formatTimestamp } from "../timestamps.ts";
import { type PayPeriod, payPeriods, sum } from "./ledger.ts";
import { random } from "./random.ts";

export type DataSource = {
  readonly accountId: string;
  readonly userId: string;
  readonly datasourceName: string;
  readonly createdAt: Date;
  /** Size of the profile's picture in bytes; 0: none. */
  readonly pictureBytes: number;
};

type Items = readonly Readonly<Record<string, unknown>>[];

/** First and last day of a range, as `2026-11-21`. */
export type Days = { readonly start: string; readonly end: string };

/** Endpoints whose records belong to pay periods; data of other endpoints has no dates. */
const byPayPeriod: ReadonlySet<EndpointName> = new Set([
  "income",
  "activity",
  "trips",
  "bonuses",
  "transactions",
  "documents",
]);

/**
 * Generates an endpoint's records at a version. A pure function, so no data is stored.
 * @param days limits pay periods to those that overlap
 */
export function dataRecords(endpoint: EndpointName, source: DataSource, version: number, days?: Days): Items {
  const all = payPeriods(source.accountId, source.createdAt, version);
  const isChosen = ({ start, end }: PayPeriod) =>
    days === undefined || !byPayPeriod.has(endpoint) || (start <= days.end && end >= days.start);
  return makers[endpoint](source, all.filter(isChosen));
}

const currency = "USD";

/** Formats cents as a decimal: `"1234.50"`. */
function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

type Maker = (source: DataSource, periods: readonly PayPeriod[]) => Items;

const makers: Readonly<Record<EndpointName, Maker>> = {
  profile: ({ userId, accountId, pictureBytes }) => {
    // Seeded by the user: the same person on every platform.
    const person = random(userId, "profile");
    const firstName = person.person.firstName();
    const lastName = person.person.lastName();
    return [
      {
        id: random(accountId, "profile").string.uuid(),
        ...identityOf(userId, firstName, lastName),
        ...(pictureBytes === 0 ? {} : { picture: picture(accountId, pictureBytes) }),
      },
    ];
  },
  employment: ({ accountId, datasourceName }, periods) => {
    const source = random(accountId, "employment");
    return [
      {
        id: source.string.uuid(),
        employer: datasourceName,
        title: source.helpers.arrayElement(["Courier", "Driver", "Shift worker", "Contractor"]),
        type: source.helpers.arrayElement(["full_time", "part_time", "contract"]),
        status: "active",
        start_date: periods[0]?.start,
        end_date: null,
      },
    ];
  },
  income: (_source, periods) =>
    periods.map((period) => ({
      id: period.id,
      date_start: period.start,
      date_end: period.end,
      paid_at: period.paidAt,
      currency,
      gross: money(period.gross),
      fees: money(period.fees),
      taxes: money(period.taxes),
      net: money(period.net),
    })),
  activity: ({ accountId }, periods) =>
    periods.map((period) => ({
      id: random(accountId, "activity", period.id).string.uuid(),
      pay_period_id: period.id,
      date_start: period.start,
      date_end: period.end,
      trips: period.trips.length,
      distance_meters: sum(period.trips, ({ distanceMeters }) => distanceMeters),
      duration_seconds: sum(period.trips, ({ durationSeconds }) => durationSeconds),
      currency,
      earnings: money(sum(period.trips, ({ fare, tip }) => fare + tip)),
    })),
  trips: (_source, periods) =>
    periods.flatMap((period) =>
      period.trips.map((trip) => ({
        id: trip.id,
        pay_period_id: period.id,
        started_at: trip.startedAt,
        ended_at: trip.endedAt,
        distance_meters: trip.distanceMeters,
        duration_seconds: trip.durationSeconds,
        currency,
        fare: money(trip.fare),
        tip: money(trip.tip),
      })),
    ),
  bonuses: ({ accountId }, periods) =>
    periods
      .filter(({ bonus }) => bonus > 0)
      .map((period) => ({
        id: random(accountId, "bonus", period.id).string.uuid(),
        pay_period_id: period.id,
        paid_at: period.paidAt,
        currency,
        amount: money(period.bonus),
      })),
  transactions: ({ accountId }, periods) =>
    periods.map((period) => ({
      id: random(accountId, "transaction", period.id).string.uuid(),
      pay_period_id: period.id,
      type: "payout",
      at: period.paidAt,
      currency,
      amount: money(period.net),
    })),
  wallet: ({ accountId }, periods) => [
    {
      id: random(accountId, "wallet").string.uuid(),
      currency,
      // The latest period's earnings are pending; earlier ones were paid out.
      balance: money(periods.at(-1)?.net ?? 0),
      paid_out: money(sum(periods.slice(0, -1), ({ net }) => net)),
    },
  ],
  performance: ({ accountId }, periods) => {
    const source = random(accountId, "performance");
    return [
      {
        id: source.string.uuid(),
        rating: source.number.float({ min: 4, max: 5, fractionDigits: 2 }),
        acceptance_rate: source.number.float({ min: 0.6, max: 1, fractionDigits: 2 }),
        completed: sum(periods, ({ trips }) => trips.length),
      },
    ];
  },
  assets: ({ accountId }) => {
    const source = random(accountId, "assets");
    return [
      {
        id: source.string.uuid(),
        type: "savings",
        currency,
        value: money(source.number.int({ min: 10_000, max: 900_000 })),
      },
    ];
  },
  "banking-info": ({ accountId }) => {
    const source = random(accountId, "banking-info");
    return [
      {
        id: source.string.uuid(),
        bank: "Bank of Examples",
        account_type: "checking",
        routing_number: "000000000",
        account_number: `xxxx${source.string.numeric(4)}`,
      },
    ];
  },
  documents: ({ accountId }, periods) =>
    periods.map((period) => ({
      id: random(accountId, "document", period.id).string.uuid(),
      type: "pay_stub",
      pay_period_id: period.id,
      issued_at: period.paidAt,
      file_name: `pay-stub-${period.start}.pdf`,
    })),
  vehicles: ({ accountId }) => {
    const source = random(accountId, "vehicles");
    return [
      {
        id: source.string.uuid(),
        manufacturer: source.vehicle.manufacturer(),
        model: source.vehicle.model(),
        year: source.number.int({ min: 2012, max: 2026 }),
        // No authority issues plates of this form, so the plate cannot match a real car.
        license_plate: `TEST-${source.string.numeric(4)}`,
      },
    ];
  },
};

/** Generates incompressible bytes in base64. */
function picture(accountId: string, bytes: number): string {
  const key = createHash("sha256").update(accountId).digest();
  const noise = createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
  return noise.toString("base64");
}

/** Generates a person with an undeliverable address (RFC 2606) and a fictional phone number. */
function identityOf(userId: string, firstName: string, lastName: string) {
  const source = random(userId, "identity");
  const local = `${firstName}.${lastName}`.toLowerCase().replace(/[^a-z.]/g, "");
  return {
    first_name: firstName,
    last_name: lastName,
    email: `${local}@example.com`,
    phone: `+1-202-555-01${source.string.numeric(2)}`,
    birth_date: formatDate(source.date.birthdate({ mode: "year", min: 1960, max: 2004 })),
    address: {
      street: source.location.streetAddress(),
      city: source.location.city(),
      state: source.location.state({ abbreviated: true }),
      country: "US",
    },
  };
}

/** Answer to a data call. `revision` counts the changes of the endpoint's data. */
export type DataSet = {
  readonly account_id: string;
  readonly endpoint: EndpointName;
  readonly revision: number;
  readonly updated_at: string;
  readonly data: Items;
};

export function dataSet(
  endpoint: EndpointName,
  source: DataSource,
  { version, updatedAt }: DataVersion,
  days?: Days,
): DataSet {
  return {
    account_id: source.accountId,
    endpoint,
    revision: version,
    updated_at: formatTimestamp(updatedAt),
    data: dataRecords(endpoint, source, version, days),
  };
}
