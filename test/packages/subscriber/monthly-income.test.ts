import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { monthlyIncome } from "../../../packages/subscriber/index.ts";
import {
  type Document,
  documentsOfIncome,
  hrefOf,
  type Payment,
  payment,
  readableTimes,
  unnamedPayments,
  unreadablePayments,
} from "./income-documents.ts";

const whole = (version: number, ...data: Payment[]): Document => ({ href: hrefOf(version), data });
const sums = (...documents: Document[]) =>
  monthlyIncome(documents).map(({ month, currency, gross, net, payments }) =>
    [month, currency, gross, net, payments].join(" "),
  );

describe("the income by month", () => {
  it.each<[string, readonly Document[], readonly string[]]>([
    ["a document without payments", [whole(1)], []],
    ["one payment", [whole(1, payment("1"))], ["2026-11 USD 100.00 80.00 1"]],
    [
      "a newer version, which lacks a payment",
      [whole(2, payment("2")), whole(1, payment("1"), payment("2"))],
      ["2026-11 USD 100.00 80.00 1"],
    ],
    [
      "versions as numbers, not as texts",
      [whole(10, payment("1", { net: "81" })), whole(9, payment("1"))],
      ["2026-11 USD 100.00 81 1"],
    ],
    [
      "ranges that overlap, a payment as the newer one has it",
      [
        {
          href: hrefOf(2, "income/2026-11-01..2026-11-14"),
          data: [payment("1", { net: "70.00" }), payment("2")],
        },
        { href: hrefOf(1, "income/2026-10-25..2026-11-07"), data: [payment("0"), payment("1")] },
      ],
      ["2026-11 USD 300.00 230.00 3"],
    ],
    [
      "two accounts whose payments have the same id",
      [whole(1, payment("1")), { href: hrefOf(1, "income", "b"), data: [payment("1")] }],
      ["2026-11 USD 200.00 160.00 2"],
    ],
    [
      "an account whose documents were read by a URL, and are by invoking a function",
      [
        { href: hrefOf(1, "income/2026-10-01..2026-11-30"), data: [payment("1"), payment("2")] },
        {
          href: `arn:aws:lambda:eu-central-2:111111111111:function:read:billing${hrefOf(2).slice(hrefOf(2).indexOf("/v1/"))}`,
          data: [payment("1"), payment("3")],
        },
      ],
      ["2026-11 USD 300.00 240.00 3"],
    ],
    [
      "currencies and months apart",
      [
        whole(
          1,
          payment("1", { currency: "MXN" }),
          payment("2", { paid_at: "2026-01-01 00:00:00" }),
          payment("3"),
        ),
      ],
      ["2026-01 USD 100.00 80.00 1", "2026-11 MXN 100.00 80.00 1", "2026-11 USD 100.00 80.00 1"],
    ],
    [
      "amounts of any size, sign and precision",
      [
        whole(
          1,
          payment("1", { gross: "90071992547409931234.1", net: "-0.05" }),
          payment("2", { gross: "0.905", net: "0.01" }),
        ),
      ],
      ["2026-11 USD 90071992547409931235.005 -0.04 2"],
    ],
  ])("of %s", (_, documents, expected) => {
    expect(sums(...documents)).toEqual(expected);
  });

  it("names the documents that it came from, and no others", () => {
    const ranges = ["income/1..2", "income/2..3", "income/1..3"].map((name, index): Document => {
      return { href: hrefOf(index + 1, name), data: [payment("1")] };
    });
    const other = { href: hrefOf(9), data: [payment("2")] };
    expect(monthlyIncome([...ranges, other])).toMatchObject([
      { documents: [hrefOf(3, "income/1..3"), hrefOf(9)] },
    ]);
  });

  it.each(readableTimes)("reads the time %s as of %s", (paid_at, month) => {
    expect(monthlyIncome([whole(1, payment("1", { paid_at }))])).toMatchObject([{ month }]);
  });

  it.each(unreadablePayments)("refuses a payment with %o, by its id", (facts, field) => {
    expect(() => sums(whole(1, payment("p-7", facts)))).toThrow(`payment p-7: ${field} can't be read`);
  });

  it.each(unnamedPayments)("refuses a payment with the id $id, by its document", (unnamed) => {
    expect(() => sums(whole(1, unnamed))).toThrow("/v1/accounts/a/documents/income: id can't be read");
  });

  it("is the same in any order, and if documents come twice (law)", () => {
    const versions = documentsOfIncome.map((documents) =>
      documents.map(({ href, data }, index) => ({ href: href.replace(/\d+$/, `${index + 1}`), data })),
    );
    const deliveries = versions.chain((documents) =>
      fc.tuple(
        fc.constant(documents),
        fc.shuffledSubarray([...documents, ...documents], { minLength: documents.length * 2 }),
      ),
    );
    fc.assert(
      fc.property(deliveries, ([documents, shuffled]) => {
        expect(sums(...shuffled)).toEqual(sums(...documents));
      }),
      { numRuns: 300 },
    );
  });
});
