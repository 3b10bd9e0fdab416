import { assumptions } from "../../../proof/cost/assumptions.ts";
import { about, dollars, table } from "../markdown.ts";
import { documentedSettings } from "../stage-settings.ts";
import { totalOf } from "./bill.ts";
import {
  billFor,
  billRows,
  counts,
  headings,
  idleOurs,
  idleTable,
  idleTypical,
  loadRows,
  monthRows,
  prices,
  shown,
  storageRows,
  sumOf,
} from "./cost-tables.ts";

/** The page for who pays. */
export function costPage(): string {
  return `${[
    opening(),
    "## A million events",
    table(
      ["US$ per million events", ...shown.map((implementation) => headings[implementation])],
      billRows(),
      1,
    ),
    "![US$ for a million events, by line, of ours, the typical design, Powertools and the floor](cost.svg)",
    lineNotes(),
    "## By load",
    table(["a million events", ...shown.map((implementation) => headings[implementation])], loadRows(), 1),
    loadNotes,
    "## A month without events",
    idleTable(),
    idleNotes(),
    "## Storage",
    table(["US$ a month, after each million events", "ours", headings.plain], storageRows(), 1),
    storageNotes(),
    "## A whole month",
    table(["events in a month", "ours", headings.plain], monthRows(), 1),
    notInIt(),
    again,
  ].join("\n\n")}\n`;
}

function opening(): string {
  const { usual } = counts.loads;
  const ratio = totalOf(billFor("ours")) / totalOf(billFor("plain"));
  return `# Cost

<!-- Written by \`npm run docs\`: change scripts/documents/cost/, proof/bench/prices.json or proof/cost/. -->

A million events cost about **US$ ${dollars(totalOf(billFor("ours")))}**, ${about(ratio, 2)} times what the typical design spends
(US$ ${dollars(totalOf(billFor("plain")))}), and a month in which nothing happens US$ ${dollars(sumOf(idleOurs()))} (US$ ${dollars(sumOf(idleTypical()))}).
Prices are those of ${prices.region}, looked up on ${prices.date} (\`proof/bench/prices.json\`, with its sources); nothing is deducted for free
tiers. Requests and capacity units were counted at the gateway on ${counts.date}, of ${usual.events} events with ${percent(usual.duplicates)} of the deliveries
duplicates, the same for all implementations, each on its own engines (\`proof/cost/counts.json\`).

An event here is a distinct one: of ten, one registers a user, two create and connect an account, seven announce data that
is then fetched. The **typical design** is P2 of [the benchmark](../../proof/bench/README.md): API Gateway, a queue for each kind,
functions with the SDK's document client, one item at a time. It does less: no order of states, no coalescing, no rate, no
breaker, no reconciliation, no erasure, no alarms. P1 is the same with Powertools. The floor makes only the calls that every
design needs.`;
}

function lineNotes(): string {
  const { awsMillis, providerMillis, wholeProcessorMb, platformLogBytes } = assumptions;
  const { ours, plain } = counts.loads.usual.sides;
  const [largest = ""] = [...billFor("ours")].sort(([, one], [, other]) => other - one).map(([name]) => name);
  return `- **Lambda, time** is the processor time that was counted inside the functions, stretched where their memory brings less
  than a processor (${wholeProcessorMb} MB), and what they wait for: ${awsMillis} ms for each call to AWS, ${providerMillis} ms for each to the provider, calls at
  the same time once. Both waits are assumptions; with a provider twice as slow the line grows by what it waits, no other.
  The benchmark's rows \`price*\` are of this model, counted again in its own run.
- **Logs**: what the functions write, and the API's access log. Lambda itself writes ${platformLogBytes} bytes for each invocation by default;
  ours turns that off (\`logs.invocations\`), the floor too.
- The largest line of ours is "${largest}". An event is one write, a document that was
  fetched one for each KB of its compressed data; states and the provider's rate are written, too.
- Ours makes ${ours.providerCalls} calls to the provider, the typical design ${plain.providerCalls}. An account's data is announced three seconds after its
  fetch was started, so that the start counts as answered.
- SQS counts what is sent, received and deleted for the functions, of FIFO queues at their price; reading the subscriber's
  queue is the subscriber's.`;
}

const loadNotes = `Batches are full in all rows but the last, as they are when events come faster than the functions take them. Where events are
rarer than that, a batch holds one, and the last row is nearer. A duplicate costs a request, an invocation and a write.`;

function idleNotes(): string {
  const { pollersPerQueue, pollSeconds } = assumptions;
  const reads = (365 * 86_400) / 12 / 60;
  return `Counted in the template of a production stage with one subscriber and the settings' defaults. An event source at rest keeps ${pollersPerQueue} long
polls of ${pollSeconds} seconds open on its queue; Lambda goes down to two only where no \`maxConcurrency\` is set, as perhaps in the typical design.
Runs of schedules were counted on an idle stack, one each. The typical design is taken to need the same queues, but for that of
checks, the token's refresh and two secrets, and to watch nothing.

While events come, each warm environment of a receiver or of the fetch reads its secret once a minute: at most US$ ${dollars(reads * prices.secretRead)}
a month for each environment that never rests, whatever the number of events.`;
}

function storageNotes(): string {
  const { retention } = documentedSettings();
  return `With point-in-time recovery, which costs nearly as much as the table; the typical design is reckoned with it, too. Events
expire after ${retention.eventsDays} days (\`retention.eventsDays\`), logs after ${retention.logsDays}. Documents here have ${counts.loads.usual.dataBytes} bytes: yours decide.`;
}

function notInIt(): string {
  return `## Not included

- First calls: a new environment is billed for its start, some hundred milliseconds, and starts are rare under load.
- Failures: a retry costs as much as its step, a dead letter three requests. While the provider is down a task is
  received and sent again every few minutes ([outages](../operate/outages.md), [capacity](capacity.md)).
- Reconciliation, erasures, replays, exports, the operator's commands: they go by users, not by events.
- Tracing (US$ ${dollars(prices.trace * 1_000_000)} a million traces), a key of your own (US$ ${dollars(prices.keyMonth)} a month and ${dollars(prices.keyRequest * 1_000_000)} a million requests,
  [encryption](../operate/encryption.md)), a domain of your own, data that leaves the region (US$ ${dollars(prices.transferGigabyte)} a GB), the alarms' notifications, support,
  taxes.
- The subscribers' own reading, the provider's bill, and people.`;
}

const again = `## Counting again

\`\`\`sh
npm run proof -- cost && npm run docs
\`\`\`

counts all implementations on this machine again and writes this page again; \`npm run proof\` counts a part of it (\`test/proof/records.proof.test.ts\`)
and fails where it has moved. Processor time, and which calls are waited for at once, are this machine's; all else follows from the events. Other prices: change
\`proof/bench/prices.json\`, run \`npm run docs\`.`;

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
