import fc from "fast-check";
import { type Fault, faults } from "./processes.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider, type Thing, things } from "./provider.ts";
import { Simulation, workQueues } from "./simulation.ts";
import type { TableMutation } from "./table.ts";
import { waitUntilIdle } from "./wait-until-idle.ts";

/** The provider is the model: what the pipeline must come to. */
type Command = fc.AsyncCommand<Provider, Simulation>;
type Pick = <T>(list: readonly T[], act: (chosen: T) => void) => void;

/** A command that picks by a number what it is about, and does nothing where there is nothing. */
function command(
  what: string,
  number: number,
  run: (simulation: Simulation, provider: Provider, pick: Pick) => void,
): Command {
  const pick: Pick = (list, act) => {
    const chosen = list[number % Math.max(1, list.length)];
    if (chosen !== undefined) act(chosen);
  };
  return {
    check: () => true,
    run: async (provider, simulation) => {
      run(simulation, provider, pick);
      await simulation.pause();
      expectAlways(simulation);
    },
    toString: () => `${what} ${number}`,
  };
}

const go = (number: number) =>
  command("go on with", number, (simulation, _, pick) => pick(simulation.usual(), ({ run }) => run()));

const happen = (accountId: (typeof accountIds)[number], thing: Thing, isOwn: boolean) =>
  command(
    `${thing}${isOwn ? ", with a time or an id," : ""} of account ${accountIds.indexOf(accountId)}`,
    0,
    (_, provider) => provider.happen(accountId, thing, isOwn),
  );

const repeat = (number: number) =>
  command("deliver again", number, (simulation, { webhooks }, pick) =>
    pick(webhooks, (webhook) => simulation.deliver(webhook)),
  );

const fault = (number: number, fault: Fault) =>
  command(`a step ${fault}`, number, ({ processes }, _, pick) =>
    pick(processes.steps, ({ step }) => step.go(fault)),
  );

const kill = (number: number) =>
  command("kill", number, ({ processes }, _, pick) =>
    pick(processes.running, (process) => processes.kill(process)),
  );

/** SQS may deliver a message that is in flight. */
const double = (number: number) =>
  command("a second delivery of", number, (simulation, _, pick) => {
    const inFlight = workQueues.flatMap((name) =>
      simulation.queue(name).messages.map((message) => ({ name, message })),
    );
    pick(inFlight, ({ name, message }) => simulation.poll(name, [message]));
  });

const pass = (seconds: number) => command("seconds pass:", seconds, (simulation) => simulation.pass(seconds));
const replay = (records: number) =>
  command("the stream comes again, records:", records, (simulation) => simulation.replay(records));
const refresh = () => command("the refresher runs", 0, (simulation) => simulation.refresh());

const setToken = () =>
  command("an operator sets a token", 0, (simulation, provider) =>
    simulation.secret.set(provider.issueToken()),
  );
const revoke = () =>
  command("the token is revoked", 0, (simulation, provider) =>
    provider.revoke(simulation.secret.current.token),
  );

const number = fc.nat({ max: 1_000 });
const thing = fc.constantFrom(...things, "data" as const, "connect" as const, "disconnect" as const);

/** What can happen, the usual more often than the rest. */
const commands: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 10 }, () => number.map(go)),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(fc.constantFrom(...accountIds), thing, fc.boolean()).map((args) => happen(...args)),
  ),
  number.map(repeat),
  fc.tuple(number, fc.constantFrom(...faults)).map((args) => fault(...args)),
  number.map(kill),
  number.map(double),
  fc.integer({ min: 1, max: 400 }).map(pass),
  fc.integer({ min: 1, max: 5 }).map(replay),
  fc.constant(null).map(refresh),
  fc.constant(null).map(setToken),
  fc.constant(null).map(revoke),
];

/** Any history: `isEnding` says whether the provider ends a token of which it made another. */
export const histories = fc.tuple(fc.boolean(), fc.commands(commands, { size: "+1", maxCommands: 150 }));

/** Lives a history through, lets it come to rest, and looks at the promises. @throws where one is broken */
export async function live(
  [isEnding, history]: readonly [boolean, Iterable<Command>],
  mutation: TableMutation = "none",
): Promise<void> {
  const provider = new Provider(isEnding);
  const simulation = new Simulation(provider, mutation);
  await fc.asyncModelRun(() => ({ model: provider, real: simulation }), history);
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
}
