/** A program that tries to break the pipeline, or measures it. */
export type Proof = {
  readonly name: string;
  /** One sentence. */
  readonly shows: string;
  /** On two cores, with the program's defaults. */
  readonly takes: string;
  /** Below the repository. */
  readonly program: string;
  /** Whether it has an npm script of its own name, too. */
  readonly isScript?: true;
};

/** All of them, by name. */
export const proofs: readonly Proof[] = [
  {
    name: "alarms",
    shows: "The condition of each alarm raises that alarm.",
    takes: "2 minutes",
    program: "proof/alarms/main.ts",
  },
  {
    name: "bench",
    shows: "Processor time, requests, bundles and prices, beside three other implementations.",
    takes: "a minute with --quick, much longer with all rows",
    program: "proof/bench/main.ts",
    isScript: true,
  },
  {
    name: "capacity",
    shows:
      "Which quota of AWS ends first at a rate of events, and how a burst or an outage goes, in a model.",
    takes: "seconds",
    program: "proof/capacity/main.ts",
  },
  {
    name: "chaos",
    shows: "No event is lost or doubled under random faults of AWS, the provider and the functions.",
    takes: "3 minutes for each seed",
    program: "proof/chaos/main.ts",
    isScript: true,
  },
  {
    name: "conformance",
    shows: "The sandbox keeps each statement of the income-data service's interface.",
    takes: "a minute",
    program: "proof/conformance/main.ts",
  },
  {
    name: "console",
    shows:
      "How soon the console shows its first page and an event, and that lists scroll and memory stays flat.",
    takes: "12 minutes; a minute with --minutes 0.5",
    program: "proof/console/main.ts",
  },
  {
    name: "cost",
    shows: "What events and an idle stack use; writes the counts that docs/evidence/cost.md is made of.",
    takes: "some minutes",
    program: "proof/cost/main.ts",
  },
  {
    name: "first-event",
    shows:
      "How long it takes from an empty folder to the first event that a subscriber reads: init, install, dev.",
    takes: "2 minutes",
    program: "proof/first-event/main.ts",
  },
  {
    name: "fuzz",
    shows: "No input from outside crashes, hangs or loses anything: a million inputs.",
    takes: "some tens of minutes",
    program: "proof/fuzz/main.ts",
  },
  {
    name: "model",
    shows: "The protocol keeps its promises in random histories, with a fault at each step, and in races.",
    takes: "3 minutes",
    program: "proof/model/main.ts",
  },
  {
    name: "mutants",
    shows: "The tests notice deliberate mistakes in the code.",
    takes: "hours; minutes for one file with --mutate",
    program: "proof/mutants/main.ts",
  },
  {
    name: "outage",
    shows: "Nothing is lost while the provider is down for a day, and the backlog is worked off at its rate.",
    takes: "10 minutes",
    program: "proof/outage/main.ts",
    isScript: true,
  },
  {
    name: "permissions",
    shows: "Which permissions the scenario needs: each action of each role, on each resource.",
    takes: "a minute",
    program: "proof/permissions/main.ts",
  },
  {
    name: "read",
    shows:
      "What a read of a document costs beside a bare GetItem, and that 200 MB fit the function's memory.",
    takes: "a minute",
    program: "proof/read/main.ts",
  },
  {
    name: "restore-drill",
    shows: "A backup comes back whole, and who was erased stays erased.",
    takes: "a minute",
    program: "proof/restore-drill/main.ts",
  },
  {
    name: "sandbox-load",
    shows: "The sandbox keeps its limits of memory and time under 10,000 users and 102,000 deliveries.",
    takes: "a minute",
    program: "proof/sandbox-load/main.ts",
  },
  {
    name: "soak",
    shows: "A million events pass, and neither memory nor queues grow.",
    takes: "hours, in as many runs as you like",
    program: "proof/soak/main.ts",
  },
  {
    name: "startup",
    shows: "How long synthesis, npm start and the CLI take until they answer.",
    takes: "2 minutes",
    program: "proof/startup/main.ts",
  },
  {
    name: "timing",
    shows: "The time of comparing a secret does not tell how much of it was right.",
    takes: "half a minute",
    program: "proof/timing/main.ts",
  },
];

/** What is typed to run a proof, before its flags: `npm run chaos --`, `npm run proof -- fuzz`. */
export function commandOf(name: string): string {
  const isScript = proofs.some((proof) => proof.name === name && proof.isScript === true);
  return isScript ? `npm run ${name} --` : `npm run proof -- ${name}`;
}

/** The list that `npm run proof -- --list` prints. */
export function listText(): string {
  const width = Math.max(...proofs.map(({ name }) => name.length));
  const lines = proofs.map(
    ({ name, shows, takes }) => `  ${name.padEnd(width)}  ${shows}\n  ${" ".repeat(width)}  Takes ${takes}.`,
  );
  return `npm run proof -- <name> [flags]    \`--help\` after a name lists its flags\n\n${lines.join("\n")}\n`;
}
