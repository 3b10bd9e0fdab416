import { Command, InvalidArgumentError } from "commander";

export type CapacityFlags = {
  readonly rate: number;
  readonly burst?: number;
  readonly burstMinutes: number;
  readonly outageHours?: number;
  readonly concurrency: number;
  readonly stage?: string;
  readonly svg?: string;
};

const examples = `
Examples:
  npm run proof -- capacity --rate 20                                  what ends first at 20 events a second
  npm run proof -- capacity --rate 2 --burst 50 --burst-minutes 30     fifty times as many for half an hour
  npm run proof -- capacity --rate 5 --outage-hours 24 --svg out.svg   the provider is down for a day, with a chart
  npm run proof -- capacity --rate 5 --stage local                     with the settings of stages/local.json
Nothing is run: it is a model, see docs/evidence/capacity.md.`;

/** Reads the command line. Prints help, or what is wrong with it, and exits. */
export function parseCapacityFlags(args: readonly string[]): CapacityFlags {
  return new Command("npm run proof -- capacity")
    .description(
      "Shows which limit ends first at a rate of events, and how a burst or an outage of the provider goes.",
    )
    .option("--rate <n>", "events a second at usual times", positive(100_000), 5)
    .option("--burst <factor>", "show a burst: so many times the usual rate", positive(100_000))
    .option("--burst-minutes <n>", "how long it lasts", positive(1_440), 10)
    .option("--outage-hours <n>", "show an outage of the provider's API, so long", positive(1_000))
    .option("--concurrency <n>", "the account's concurrent executions", positive(1_000_000), 1_000)
    .option("--stage <name>", "settings of stages/<name>.json instead of the defaults")
    .option("--svg <file>", "draw the simulation that is shown last")
    .addHelpText("after", examples)
    .parse(args, { from: "user" })
    .opts<CapacityFlags>();
}

function positive(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`Write a number over 0, up to ${most}.`);
  };
}
