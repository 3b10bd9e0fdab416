import { documentedStage, productionStage } from "../../../scripts/documents/stage-template.ts";
import { type Implementation, implementations, type Peer, sumOfParts } from "../implementations.ts";
import { accessLogBytesOf, billOf, totalOf } from "../price/bill.ts";
import { countImplementation, type LoadName, loadNames } from "../price/count.ts";
import { type Counted, writeCounts } from "../price/counts.ts";
import { idleOf, sumOf, typicalOf } from "../price/idle.ts";
import { type Context, type Goal, peerRow, type Row } from "./row.ts";

const priced: readonly LoadName[] = ["usual", "large", "huge", "alone"];

type CountsOf = (load: LoadName, implementation: Implementation) => Counted;

/**
 * Prices by the model of docs/evidence/cost-and-capacity.md, and how long an event waits for services. A
 * recorded run counts all loads and writes them for that page.
 */
export async function priceRows({ recordedAs, onProgress }: Context): Promise<readonly Row[]> {
  const names = recordedAs === undefined ? priced : loadNames;
  const found = await Promise.all(
    implementations.map((each) => countImplementation(each, names, onProgress)),
  );
  const counted = new Map(found.flatMap((each) => [...each]));
  if (recordedAs !== undefined) writeCounts(recordedAs, counted);
  return rowsOf((load, implementation) => {
    const counts = counted.get(`${load}/${implementation}`);
    if (counts === undefined) throw new Error(`${load} was not counted of ${implementation}`);
    return counts;
  });
}

function rowsOf(countsOf: CountsOf): readonly Row[] {
  const accessLogBytes = accessLogBytesOf(documentedStage());
  const resources = productionStage();
  const row = (
    name: string,
    figure: string,
    of: (implementation: Implementation) => number,
    goals: readonly (Goal & { readonly over: Peer })[],
  ) => peerRow(name, figure, (implementation: Implementation) => [of(implementation)], goals);
  const priceOf = (load: LoadName) => (implementation: Implementation) =>
    totalOf(billOf(countsOf(load, implementation), implementation, accessLogBytes));
  const price = (name: string, load: LoadName, what: string, goal: Goal["goal"]) =>
    row(name, `US$ per million events, ${what}`, priceOf(load), [{ over: "plain", goal }]);
  const sizeOf = (load: LoadName) =>
    `documents of ${Math.round(countsOf(load, "ours").dataBytes / 1_024)} KB`;
  const month = (implementation: Implementation) => {
    const standing = implementation === "ours" ? resources : typicalOf(resources);
    const idle = sumOf(idleOf(standing).map(({ dollars }) => dollars));
    return idle + 100 * priceOf("usual")(implementation);
  };
  const waits = (implementation: Implementation) => {
    const counts = countsOf("alone", implementation);
    return (sumOfParts((part) => counts[`${part}Waits`]) + counts.providerWaits) / counts.events;
  };
  const toSubscriber = (implementation: Implementation) => {
    const { subscriberWaits, events } = countsOf("alone", implementation);
    return subscriberWaits / events;
  };
  return [
    price("price", "usual", "30 % duplicates", "≤ 0.68"),
    price("price-20kb", "large", sizeOf("large"), "≤ 0.46"),
    price("price-200kb", "huge", sizeOf("huge"), "≤ 0.15"),
    price("price-alone", "alone", "each alone", "≤ 1.03"),
    row("price-month", "US$ for a month of 100 million events", month, [{ over: "plain", goal: "≤ 0.7" }]),
    row("waits-alone", "requests that an event that comes alone waits for", waits, [
      { over: "powertools", goal: "≤ 1" },
      { over: "plain", goal: "≤ 1.2" },
    ]),
    row("waits-subscriber", "requests that it waits for until its message is on the queue", toSubscriber, [
      { over: "plain", goal: "≤ 1" },
    ]),
  ];
}
