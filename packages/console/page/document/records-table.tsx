import { cellText, type Tabular } from "@income-events/cli/documents/tabular.ts";
import { useState } from "preact/hooks";
import { number, visible } from "../format.ts";
import { Wide } from "../parts/data.tsx";

/** Rows that are drawn at once. */
const rowsAtOnce = 100;

/** Records as rows, their members as columns. */
export function RecordsTable({ of: { path, columns, records } }: { readonly of: Tabular }) {
  const [count, setCount] = useState(rowsAtOnce);
  const label = `${path === "" ? "Records" : visible(path)}: ${number(records.length)}`;
  return (
    <>
      <Wide label={label} isLong>
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {visible(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {records.slice(0, count).map((record, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column}>{visible(cellText(record.get(column)))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {records.length > count && (
        <button type="button" onClick={() => setCount(count + rowsAtOnce)}>
          Show more: {number(records.length - count)} are left
        </button>
      )}
    </>
  );
}
