import fc from "fast-check";
import type { monthlyIncome } from "../../../packages/subscriber/index.ts";

export type Document = Parameters<typeof monthlyIncome>[0][number];
export type Payment = Document["data"][number];

/** A payment in the provider's format. */
export const payment = (id: string, facts: Partial<Payment> = {}) => ({
  id,
  date_start: "2026-11-01",
  date_end: "2026-11-07",
  paid_at: "2026-11-09 12:00:00",
  currency: "USD",
  gross: "100.00",
  fees: "0.00",
  taxes: "20.00",
  net: "80.00",
  ...facts,
});

export const hrefOf = (version: number, name = "income", account = "a") =>
  `https://reads.example/v1/accounts/${account}/documents/${name}?version=${version}`;

/** Payment times with their months. */
export const readableTimes = [
  ["2026-11-30 23:59:59", "2026-11"],
  ["2026-11-30 23:59:59 UTC", "2026-11"],
  ["2026-11-30T23:59:59.123456789Z", "2026-11"],
  ["2026-11-30T23:59:59,5z", "2026-11"],
  ["2026-11-30T23:59:59-0100", "2026-12"],
  ["2026-12-01T00:30:00+01", "2026-11"],
  ["2026-12-01 00:30:00 +01:00", "2026-11"],
  ["2028-02-29 00:00:00", "2028-02"],
  ["2027-01-01T04:59:59+05:00", "2026-12"],
] as const;

/** Unreadable payments, with the field that the error names. */
export const unreadablePayments: readonly (readonly [Partial<Payment>, string])[] = [
  ...[
    "2026-13-41 00:00:00",
    "2026-11-30 25:00:00",
    "2026-11-30 24:00:00",
    "2026-11-30T00:00:00 CET",
    "2026-11-30T00:00:00+25:00",
    "2026-02-30 00:00:00",
    "2026-11-30 23:59:60",
    "0000-11-30 00:00:00",
    "9999-12-31 23:59:59-01:00",
    "",
  ].map((paid_at) => [{ paid_at }, "paid_at"] as const),
  ...["", "1e3", "0x10", "1,000.00", ".5", "5.", "+1", " 1", "--1"].map(
    (gross) => [{ gross }, "gross"] as const,
  ),
  [{ net: "12.3.4" }, "net"],
  // As documents have it that nothing checked.
  ...(["currency", "gross", "net", "paid_at"] as const).flatMap((field) =>
    ["null", '""', "100", '["1"]'].map((text) => [{ [field]: JSON.parse(text) }, field] as const),
  ),
];

/** Payments without an id, of which each would replace the one before. */
export const unnamedPayments: readonly Payment[] = ["null", '""', "1"].map((id) => payment(JSON.parse(id)));

const amount = fc.oneof(
  fc
    .tuple(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.nat(999))
    .map(([whole, part]) => `${whole}.${part}`),
  fc.integer({ min: -100_000, max: 100_000 }).map((cents) => (cents / 100).toFixed(2)),
  fc.constantFrom("-0.01", "0", "-0"),
);
const anyPayment = fc
  .record({
    id: fc.constantFrom("1", "2", "3", "4"),
    paid_at: fc.constantFrom(...readableTimes.map(([time]) => time)),
    currency: fc.constantFrom("USD", "MXN"),
    gross: amount,
    net: amount,
  })
  .map(({ id, ...facts }) => payment(id, facts));

/** Documents of two accounts, whole and by ranges, in several versions. */
export const documentsOfIncome: fc.Arbitrary<readonly Document[]> = fc.array(
  fc
    .record({
      version: fc.constantFrom(1, 2, 9, 10),
      name: fc.constantFrom("income", "income/2026-11-01..2026-11-30", "income/2026-11-15..2026-12-14"),
      account: fc.constantFrom("a", "b"),
      data: fc.array(anyPayment, { maxLength: 4 }),
    })
    .map(({ version, name, account, data }) => ({ href: hrefOf(version, name, account), data })),
  { maxLength: 6 },
);

/** One document for each time and amount above. */
export const documentsOfOne: readonly (readonly Document[])[] = [
  ...readableTimes.map(([paid_at]) => payment("p-7", { paid_at })),
  ...unreadablePayments.map(([facts]) => payment("p-7", facts)),
  ...unnamedPayments,
].map((each) => [{ href: hrefOf(1), data: [each] }]);
