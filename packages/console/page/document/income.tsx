import { type IncomeByMonth, incomeByMonth } from "@income-events/cli/documents/income-by-month.ts";
import { tablesOf } from "@income-events/cli/documents/tabular.ts";
import { useState } from "preact/hooks";
import { visible } from "../format.ts";
import { Panel } from "../parts/panel.tsx";
import { Select } from "../views/trouble.tsx";
import { Bars } from "./bars.tsx";

/** What a document says of money, month by month: a plot, and the figures to the last digit. */
export function Income({ data }: { readonly data: unknown }) {
  const [wanted, setWanted] = useState<string>();
  const income = firstOf(data, wanted);
  if (income === undefined) return null;
  const { amounts, amount, date, months, sums } = income;
  return (
    <Panel title="Income per month">
      {amounts.length > 1 && <Select label="Amount" value={amount} of={amounts} onChange={setWanted} />}
      {sums.map(({ currency, byMonth }) => (
        <Bars
          key={amount + currency}
          label={`${visible(amount)} per month${currency === "" ? "" : ` in ${visible(currency)}`}, by ${visible(date)}`}
          names={months}
          values={byMonth.map(Number)}
        />
      ))}
      <details>
        <summary>The figures</summary>
        <Figures of={income} />
      </details>
    </Panel>
  );
}

function firstOf(data: unknown, wanted: string | undefined): IncomeByMonth | undefined {
  for (const table of tablesOf(data)) {
    const income = incomeByMonth(table, wanted);
    if (income !== undefined) return income;
  }
  return undefined;
}

function Figures({ of: { amount, months, sums } }: { readonly of: IncomeByMonth }) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">Month</th>
            {sums.map(({ currency }) => (
              <th key={currency} scope="col" class="figure">
                {visible(amount)} {visible(currency)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {months.map((month, index) => (
            <tr key={month}>
              <th scope="row">{month}</th>
              {sums.map(({ currency, byMonth }) => (
                <td key={currency} class="figure">
                  {byMonth[index]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
