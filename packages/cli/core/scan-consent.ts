import { type TableSize, tableSize } from "../../../adapters/dynamodb/table-scan.ts";
import { scanCost } from "../../../domain/recovery/scan-cost.ts";
import type { Operation } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** Minimum cost to ask about, in US dollars. */
const dollarsToAskFrom = 0.1;

const count = new Intl.NumberFormat("en");
const megabytes = new Intl.NumberFormat("en", { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

/** Called after each page of a scan with the number of items read and found so far. */
export type OnScanned = (read: number, found: number) => void;

/** Shows the cost of a scan, and asks above a minimum. @returns reports progress */
export async function agreeToScan({ deployment, clients, terminal }: Operation): Promise<OnScanned> {
  const size = await tableSize(clients.dynamodb, deployment.output("TableName"));
  await agreeOnScan(size, terminal);
  const all = count.format(size.items);
  return (read, found) => terminal.step(`Read ${count.format(read)} of about ${all} items; ${found} found.`);
}

/**
 * Shows the cost of a scan of the table, and asks above a minimum. @throws CommandError without consent
 */
export async function agreeOnScan(
  size: TableSize,
  terminal: Pick<Terminal, "progress" | "confirm">,
): Promise<void> {
  const cost = scanCost(size);
  const price = cost.dollars < 0.01 ? "below US$ 0.01" : `about US${dollars.format(cost.dollars)}`;
  const reported =
    `This reads the whole table: about ${count.format(size.items)} items, ${megabytes.format(size.bytes / 1_000_000)}, ` +
    `${count.format(cost.readUnits)} read units, ${price} at the list price of us-east-1.`;
  if (cost.dollars >= dollarsToAskFrom) await terminal.confirm(reported);
  else terminal.progress(reported);
}

/** What is found on the pages of a scan. @param keep applied after each page to what was found so far */
export async function scanFor<Page extends { readonly examined: number }, Found>(
  pages: AsyncIterable<Page>,
  select: (page: Page) => readonly Found[] | Promise<readonly Found[]>,
  onScanned: OnScanned,
  keep: (found: readonly Found[]) => readonly Found[] = (found) => found,
): Promise<readonly Found[]> {
  let [read, count] = [0, 0];
  let kept: readonly Found[] = [];
  for await (const page of pages) {
    const found = await select(page);
    kept = keep([...kept, ...found]);
    read += page.examined;
    count += found.length;
    onScanned(read, count);
  }
  return kept;
}
