import { createCipheriv, createHash } from "node:crypto";
import type { Account, DataVersion } from "../accounts.ts";
import type { EndpointName } from "../endpoint-names.ts";
import { formatDate, formatTimestamp } from "../timestamps.ts";
import { type Days, type PayPeriod, payPeriods, sum } from "./ledger.ts";
import { random } from "./random.ts";

/** What an account's data is generated from. */
type Source = Pick<Account, "id" | "userId" | "createdAt" | "pictureBytes"> & {
  readonly datasource: Pick<Account["datasource"], "name">;
};

type Items = readonly Readonly<Record<string, unknown>>[];

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
export function dataRecords(endpoint: EndpointName, source: Source, version: number, days?: Days): Items {
  const all = payPeriods(source.id, source.createdAt, version);
  const isChosen = ({ start, end }: PayPeriod) =>
    days === undefined || !byPayPeriod.has(endpoint) || (start <= days.end && end >= days.start);
  return makers[endpoint](source, all.filter(isChosen));
}

const currency = "USD";

/** Formats cents as a decimal: `"1234.50"`. */
function money(cents: number): string {
  return (cents / 100).toFixed(2);
}

type Maker = (source: Source, periods: readonly PayPeriod[]) => Items;

const makers: Readonly<Record<EndpointName, Maker>> = {
  profile: ({ userId, id, pictureBytes }) => {
    // Seeded by the user: the same person on every platform.
    const person = random(userId, "profile");
    const firstName = person.person.firstName();
    const lastName = person.person.lastName();
    return [
      {
        id: random(id, "profile").string.uuid(),
        ...identityOf(userId, firstName, lastName),
        ...(pictureBytes === 0 ? {} : { picture: picture(id, pictureBytes) }),
      },
    ];
  },
  employment: ({ id, datasource }, periods) => {
    const source = random(id, "employment");
    return [
      {
        id: source.string.uuid(),
        employer: datasource.name,
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
  activity: ({ id }, periods) =>
    periods.map((period) => ({
      id: random(id, "activity", period.id).string.uuid(),
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
  bonuses: ({ id }, periods) =>
    periods
      .filter(({ bonus }) => bonus > 0)
      .map((period) => ({
        id: random(id, "bonus", period.id).string.uuid(),
        pay_period_id: period.id,
        paid_at: period.paidAt,
        currency,
        amount: money(period.bonus),
      })),
  transactions: ({ id }, periods) =>
    periods.map((period) => ({
      id: random(id, "transaction", period.id).string.uuid(),
      pay_period_id: period.id,
      type: "payout",
      at: period.paidAt,
      currency,
      amount: money(period.net),
    })),
  wallet: ({ id }, periods) => [
    {
      id: random(id, "wallet").string.uuid(),
      currency,
      // The latest period's earnings are pending; earlier ones were paid out.
      balance: money(periods.at(-1)?.net ?? 0),
      paid_out: money(sum(periods.slice(0, -1), ({ net }) => net)),
    },
  ],
  performance: ({ id }, periods) => {
    const source = random(id, "performance");
    return [
      {
        id: source.string.uuid(),
        rating: source.number.float({ min: 4, max: 5, fractionDigits: 2 }),
        acceptance_rate: source.number.float({ min: 0.6, max: 1, fractionDigits: 2 }),
        completed: sum(periods, ({ trips }) => trips.length),
      },
    ];
  },
  assets: ({ id }) => {
    const source = random(id, "assets");
    return [
      {
        id: source.string.uuid(),
        type: "savings",
        currency,
        value: money(source.number.int({ min: 10_000, max: 900_000 })),
      },
    ];
  },
  "banking-info": ({ id }) => {
    const source = random(id, "banking-info");
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
  documents: ({ id }, periods) =>
    periods.map((period) => ({
      id: random(id, "document", period.id).string.uuid(),
      type: "pay_stub",
      pay_period_id: period.id,
      issued_at: period.paidAt,
      file_name: `pay-stub-${period.start}.pdf`,
    })),
  vehicles: ({ id }) => {
    const source = random(id, "vehicles");
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
export function dataSet(
  endpoint: EndpointName,
  source: Source,
  { version, updatedAt }: DataVersion,
  days?: Days,
) {
  return {
    account_id: source.id,
    endpoint,
    revision: version,
    updated_at: formatTimestamp(updatedAt),
    data: dataRecords(endpoint, source, version, days),
  };
}
