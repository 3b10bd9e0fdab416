import fc from "fast-check";
import { giveUpLimits } from "../../domain/fetch/task.ts";
import { userRules } from "../../domain/readiness/readiness.ts";
import { waitUntilIdle } from "./drive.ts";
import { type Fault, faults } from "./processes.ts";
import { expectAlways, expectAtRest, expectLatestAttributes } from "./promises.ts";
import { accountIds, allAccountIds, Provider, type Thing, things, userIds } from "./provider.ts";
import { Simulation, workQueues } from "./simulation.ts";
import type { OptionalSettings } from "./surroundings.ts";

/** The provider is the model: the state that the pipeline must reach. */
type Command = fc.AsyncCommand<Provider, Simulation>;
type Pick = <T>(list: readonly T[], act: (chosen: T) => void) => void;

/** A command that picks its subject by a number, and does nothing if there is none. */
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

const go = (number: number, pause: number) =>
  command(`${pause} ms later go on with`, number, (simulation, _, pick) => {
    simulation.pass(pause);
    pick(simulation.usual(), ({ run }) => run());
  });

const happen = (accountId: (typeof allAccountIds)[number], thing: Thing, isOwn: boolean) =>
  command(
    `${thing}${isOwn ? ", with a time or an id," : ""} of account ${allAccountIds.indexOf(accountId)}`,
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

const pass = (millis: number) =>
  command("milliseconds pass:", millis, (simulation) => simulation.pass(millis));
const replay = (records: number) =>
  command("the stream is redelivered, records:", records, (simulation) => simulation.replay(records));

/** A task with almost the maximum number of receives. */
const age = (number: number) =>
  command("received often:", number, (simulation, _, pick) =>
    pick(simulation.queue("fetch").messages, (message) => {
      message.receives = Math.max(message.receives, giveUpLimits(0).maxReceives - 1);
    }),
  );

const redrive = (number: number) =>
  command("redrive", number, (simulation, _, pick) =>
    pick(workQueues, (name) => simulation.redrive(name, () => true)),
  );

const setLoan = (user: (typeof userIds)[number], isOwn: boolean) =>
  command(`metadata${isOwn ? ", with a time," : ""} of user ${userIds.indexOf(user)}`, 0, (_, provider) =>
    provider.setLoan(user, isOwn),
  );

const findStale = (pause: number) =>
  command("milliseconds later a reconciliation runs:", pause, (simulation) => {
    simulation.pass(pause);
    if (simulation.readiness !== undefined) simulation.findStale();
  });

/** A deployment changes the rule, while accounts wait. */
const deploy = (users: (typeof userRules)[number]) =>
  command(`a deployment: readiness.users is ${users}`, 0, (simulation) => {
    if (simulation.readiness !== undefined) simulation.readiness = { ...simulation.readiness, users };
  });

const withoutChoice = [
  command("an outage begins or ends", 0, (_, provider) => {
    provider.isDown = !provider.isDown;
  }),
  command("the refresher runs", 0, (simulation) => simulation.refresh()),
  command("an operator sets a token", 0, (simulation, provider) =>
    simulation.secret.set(provider.issueToken()),
  ),
  command("the token is revoked", 0, (simulation, provider) =>
    provider.revoke(simulation.secret.current.token),
  ),
];

const number = fc.nat({ max: 1_000 });
/** Milliseconds before a step. */
const stepPauses = fc.constantFrom(0, 0, 1, 40, 700);
/** Milliseconds: within the clock tolerance, around its edge, around SQS's five minutes, and hours. */
const pauses = fc.constantFrom(300, 900, 1_999, 2_001, 30_000, 299_000, 301_000, 21_600_000);
const thing = fc.constantFrom(...things, "data" as const, "connect" as const, "disconnect" as const);

/** Possible events, common ones more often. */
const commands: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 10 }, () => fc.tuple(number, stepPauses).map((args) => go(...args))),
  ...Array.from({ length: 3 }, () =>
    fc
      .tuple(fc.constantFrom(...accountIds, ...allAccountIds), thing, fc.boolean())
      .map((args) => happen(...args)),
  ),
  fc.tuple(fc.constantFrom(...userIds), fc.boolean()).map((args) => setLoan(...args)),
  fc.constantFrom(0, 21_600_000).map(findStale),
  fc.constantFrom(...userRules).map(deploy),
  number.map(repeat),
  fc.tuple(number, fc.constantFrom(...faults)).map((args) => fault(...args)),
  number.map(kill),
  number.map(double),
  fc.integer({ min: 1_000, max: 400_000 }).map(pass),
  pauses.map(pass),
  number.map(age),
  number.map(redrive),
  fc.integer({ min: 1, max: 5 }).map(replay),
  ...withoutChoice.map((each) => fc.constant(each)),
];

/** `startsReady`: two accounts are connected, and all that they wait for is read, before the history begins. */
const settings: fc.Arbitrary<OptionalSettings & { readonly startsReady: boolean }> = fc.record({
  startsReady: fc.boolean(),
  readiness: fc.option(
    fc.record({ users: fc.constantFrom(...userRules), deadlineSeconds: fc.constantFrom(60, 3_600, 86_400) }),
    { nil: undefined },
  ),
  hasAttributes: fc.boolean(),
});

/** `isEnding`: whether a refresh revokes the old token; `queueAhead`: as in the simulation. */
export const histories = fc.record({
  isEnding: fc.boolean(),
  queueAhead: fc.constantFrom(0, 900, -900),
  settings,
  history: fc.commands(commands, { size: "+1", maxCommands: 150 }),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

/**
 * Runs a history, waits until idle, and checks the promises.
 * @throws if one is broken
 */
export async function live({ isEnding, queueAhead, settings, history }: History): Promise<void> {
  const provider = new Provider(isEnding);
  const simulation = new Simulation(provider, { queueAhead, settings });
  if (settings.startsReady) {
    for (const id of accountIds)
      for (const thing of ["connect", "profile"] as const) provider.happen(id, thing, true);
    await waitUntilIdle(simulation);
  }
  await fc.asyncModelRun(() => ({ model: provider, real: simulation }), history);
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
  if (settings.hasAttributes) await expectLatestAttributes(simulation, waitUntilIdle);
}
