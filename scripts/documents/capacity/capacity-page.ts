import { describeSummary } from "../../../proof/capacity/describe-summary.ts";
import { assumptions } from "../../../proof/cost/assumptions.ts";
import { about, table } from "../markdown.ts";
import {
  date,
  keysTable,
  limits,
  limitsTable,
  perEvent,
  quotas,
  quotasTable,
  rates,
  ratesTable,
} from "./capacity-tables.ts";
import { burst, outage, simulations } from "./simulations.ts";

/** The page for who plans. */
export function capacityPage(): string {
  return `${[
    opening(),
    "## What ends first",
    ratesTable(),
    atAMillion(),
    "## Each limit, the first to end first",
    limitsTable(),
    limitNotes(),
    "## Keys",
    keysOpening,
    keysTable(),
    `## A burst: ${burst.factor} times the usual ${burst.rate} events a second, for ${burst.minutes} minutes`,
    "![Deliveries, waiting messages and calls over the hours of a burst](capacity-burst.svg)",
    table(["figure", "value"], describeSummary(simulations().burst), 1),
    burstNotes(),
    `## An outage of the provider's API for ${outage.hours} hours, at ${outage.rate} events a second`,
    "![Deliveries, waiting messages and calls over the hours of an outage](capacity-outage.svg)",
    table(["figure", "value"], describeSummary(simulations().outage), 1),
    modelNotes(),
    "## The model beside what was measured",
    comparison(),
    "## Quotas",
    quotasTable(),
  ].join("\n\n")}\n`;
}

function opening(): string {
  return `# Capacity

<!-- Written by \`npm run docs\`: change proof/capacity/, scripts/documents/capacity/ or the counts of docs/evidence/cost.md. -->

What one event asks of AWS and of the provider was counted ([cost.md](cost.md)): ${about(perEvent.deliveries)} deliveries, ${about(perEvent.writeUnits)} write units, ${about(perEvent.readUnits)} read units,
${about(perEvent.tasks)} calls to the provider. This page compares that with the quotas of an account, looked up on ${date}, and the settings' defaults. A function's
time is its counted processor time, and waits as assumed there (${assumptions.awsMillis} ms for AWS, ${assumptions.providerMillis} ms for the provider).

\`npm run proof -- capacity --help\` explains other rates, bursts, outages and stages.`;
}

function atAMillion(): string {
  const most = rates.at(-1) ?? 0;
  const names = limits
    .filter(({ by, eventsPerSecond }) => (by === "fixed" || by === "our design") && eventsPerSecond < most)
    .map(({ name, eventsPerSecond }) => `- ${name}: at ${about(eventsPerSecond, 2)} events a second`);
  return `${about(most)} events a second can't be reached by raising quotas alone. These limits are fixed or part of our design, and are reached before:

${names.join("\n")}

Higher rates need several stacks with the users divided among them, and a provider that answers
${about(perEvent.tasks * most * 60, 2)} calls a minute. ${about(10_000)} a second need only quotas, settings and the changes named below.`;
}

function limitNotes(): string {
  return `These rates are with full batches. Where events are rarer batches hold less, and functions take more of the concurrency
than they would need; in an account with ${about(quotas.newAccountConcurrency.value)} the pollers leave the receivers little of it, whose callers are then sent away
for a while: reserve some for them (\`functions.receive.reservedConcurrency\`), as soon as the account has more.

A limit that is reached loses nothing: API Gateway answers 429 and the provider sends again for three days; queues keep 14 days, the
stream 24 hours, beyond which the relay gives up into its bucket at 20 hours. Never the first to end: SQS's requests, which have no quota for standard queues;
${quotas.inFlight.name.toLowerCase().replace("sqs", "SQS")} (${about(quotas.inFlight.value, 6)}), see the stories below; ${quotas.secretReads.name} (${about(quotas.secretReads.value, 6)}), as each environment reads once a minute;
${quotas.scalingPerTenSeconds.name} (${about(quotas.scalingPerTenSeconds.value, 6)}), which is ${about((quotas.scalingPerTenSeconds.value / perEvent.seconds.receive) * 10, 2)} deliveries a second more every ten seconds.`;
}

const keysOpening = `One partition takes ${about(quotas.partitionWrites.value, 6)} write units and ${about(quotas.partitionReads.value, 6)} read units a second, however large the table is. Keys
of users and accounts spread by nature: at any rate a single one has few events. Every key of \`adapters/dynamodb/keys.ts\`:`;

function burstNotes(): string {
  const { summary, limitPerMinute } = simulations().burst;
  return `A burst does not hold up storing: the queue's event source has ${about(summary.mostStoreBatches)} batches at once at most. The provider sends webhooks
that the throttle refuses again (in the model five minutes later); the data then waits for the provider's rate of ${about(limitPerMinute)} calls a minute.
Waiting tasks come back within a minute and are mostly refused again, which costs receipts: each is a tenth of three
requests to SQS and of an invocation.`;
}

function modelNotes(): string {
  const { outage: simulated } = simulations();
  return `The model is discrete in time (\`proof/capacity/model/\`, tenths of a second) and has: the route's throttle, the event sources'
scaling (5 batches at once, 300 more a minute, ${about(quotas.queueSourceBatches.value, 6)} or \`maxConcurrency\` at most), half of the account's concurrency for the store,
messages in flight, hiding and sending again with a delay, the rate's windows and the breaker, these two by the product's
own code. It does not have: retries of the relay, first calls, the subscribers. Tests hold its laws: no message
is lost or made, no minute has more calls than the rate, never is more in flight than SQS allows.
While the provider is down it is called ${about(simulated.summary.callsWhileDown)} times. Catching up takes as long as the rate leaves room beside what comes in:
${about(simulated.limitPerMinute)} calls a minute less ${about(outage.rate * perEvent.tasks * 60)}.`;
}

function comparison(): string {
  const { measured, simulated } = simulations();
  const row = (name: string, before: number, model: number) => [
    name,
    about(before, 4),
    about(model, 4),
    `${model >= before ? "+" : "-"}${Math.round(Math.abs(model / before - 1) * 100)} %`,
  ];
  return `${table(
    ["a day's outage in the stage `compressed`", "measured", "model", "deviation"],
    [
      row("tasks", measured.tasks, simulated.tasks),
      row("calls during the outage", measured.callsDuringOutage, simulated.callsDuringOutage),
      row("calls in the busiest minute", measured.maxCallsPerMinute, simulated.maxCallsPerMinute),
      row("seconds of catching up", measured.catchUpSeconds, simulated.catchUpSeconds),
    ],
    1,
  )}

Measured by \`npm run outage -- --hours 24 --tasks 10000\` ([outages.md](../operate/outages.md)). The model takes a
tenth of a second for each batch, and is not fitted to this run: a slower machine makes fewer calls in its busiest minute, as in the
other runs of that page. The model catches up sooner: it grants every call of a window, and does not wait for the stream and the
subscribers to be done.`;
}
