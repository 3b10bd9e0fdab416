/**
 * Looks whether the time of comparing a secret shows how much of it was right. `--help` lists the options.
 */
import { createHmac } from "node:crypto";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { authenticator, isSigned, valueOfKind } from "../../domain/core/webhook-secret.ts";
import { type Compare, measure, secretOf } from "./measure.ts";
import { naiveComparison } from "./naive.ts";
import { largestT } from "./welch.ts";

const description = `Looks whether the time of comparing a secret shows how much of it was right (as dudect does).

Each comparison is timed with texts that are right but for their last character, and with random ones, in random order.
Printed is the largest of Welch's t over all and over cropped measurements: above 10 the two are told apart, below 4.5
nothing is seen, between them take more samples. The last line compares character by character, to show that a
difference is seen; where it is not, the measurement says nothing.`;

const examples = `
Examples:
  npm run proof -- timing
  npm run proof -- timing --samples 5000000    on a machine that does nothing else`;

/** What dudect takes for a sure sign. */
const sure = 10;
const clear = 4.5;

const { samples } = new Command("npm run proof -- timing")
  .description(description)
  .option("--samples <count>", "of each comparison", wholeNumber(1_000), 500_000)
  .addHelpText("after", examples)
  .parse()
  .opts<{ readonly samples: number }>();

const now = new Date();
const length = 64;
const secret = secretOf(length);
const kind = "accounts";
const body = Buffer.from("{}");
const signature = createHmac("sha512", secret).update(body).digest("base64");

const header = show("secret", (text) => authenticator({ current: secret }, kind)(text, now), secret);
const previous = { value: secret, until: "2999-01-01T00:00:00Z" };
const rotated = show(
  "previous",
  (text) => authenticator({ current: secretOf(length), previous }, kind)(text, now),
  secret,
);
const ofKind = show(
  "kind",
  (text) => authenticator({ current: secret }, kind)(text, now),
  valueOfKind(secret, kind),
);
const signed = show(
  "signature",
  (text) => isSigned(body, text, { current: "", signing: secret }, new Date(0)),
  signature,
);
const control = show("control", naiveComparison(secret), secret);

if (control < sure)
  process.stderr.write("The control shows no difference: too few samples, or too much noise.\n");
process.exitCode = control < sure || [header, rotated, ofKind, signed].some((t) => t >= sure) ? 1 : 0;

function show(name: string, compare: Compare, right: string): number {
  const t = largestT(measure(compare, right, samples));
  process.stdout.write(`timing: ${name} samples ${samples} t ${t.toFixed(2)} signal ${signalOf(t)}\n`);
  return t;
}

function signalOf(t: number): string {
  if (t >= sure) return "yes";
  return t < clear ? "none" : "unclear";
}
