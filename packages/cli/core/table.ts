import Table from "cli-table3";
import { oneLine } from "./text.ts";

/**
 * Aligned columns without a frame, so that lines can be searched and cut. Numbers are right-aligned.
 * @param none the text without rows; by default, the head alone
 */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
  none?: string,
): string {
  if (rows.length === 0 && none !== undefined) return none;
  const aligned = head.map((_, column) =>
    rows.some((row) => typeof row[column] === "number") ? "right" : "left",
  );
  const table = new Table({
    head: [...head],
    colAligns: aligned,
    chars: frameless,
    style: { "padding-left": 0, "padding-right": 2, head: [], border: [] },
  });
  table.push(...rows.map((row) => row.map((cell) => oneLine(String(cell ?? "-")))));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

const frameless = Object.fromEntries(
  [
    ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
    ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid", "middle"],
  ].map((part) => [part, ""]),
);
