import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { type Choose, everyChoice } from "./choices.ts";
import {
  announce,
  drive,
  giveUp,
  isBeforeFetch,
  isReceiving,
  readFirstPage,
  waitUntilIdle,
} from "./drive.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider } from "./provider.ts";
import { Simulation, type WorkQueue } from "./simulation.ts";
import { defaultReadiness, type OptionalSettings, type SimulationOptions } from "./surroundings.ts";

const [account, accountWithPages] = accountIds;

/** Returns a racer's next step; undefined if there is none. */
type Racer = () => (() => void | Promise<void>) | undefined;
type Race = (simulation: Simulation) => Promise<readonly Racer[]>;

/** Possible races of two, starting idle with one known account that has data. */
export const races = {
  "two consumers with the same event": async (simulation) => {
    await receiveTwice(simulation, false);
    return pollEach(simulation, "accounts");
  },
  "two consumers with the same event, of which one has a new mapping": async (simulation) => {
    await receiveTwice(simulation, true);
    const [one, ...others] = simulation.queue("accounts").visible(simulation.queueTime);
    const old = startedBy(simulation, () => one && simulation.poll("accounts", [one]));
    // This mapping does not read the event's time.
    simulation.accountsMapping = defaultMapping.accounts;
    return [...old, ...startedBy(simulation, () => simulation.poll("accounts", others))];
  },
  "two fetches of the same data": async (simulation) => {
    await announce(simulation, account);
    // SQS redelivers the document's task that is in flight.
    return [...pollEach(simulation, "fetch"), ...pollAgain(simulation)];
  },
  "a fetch that goes on with pages, and news of them": async (simulation) => {
    await readFirstPage(simulation);
    return [...pollEach(simulation, "fetch"), inTurn(() => announce(simulation, accountWithPages))];
  },
  "a fetch of new data, and a redrive of its task that was given up": async (simulation) => {
    await announce(simulation, account);
    await giveUp(simulation);
    await announce(simulation, account);
    return [
      ...pollEach(simulation, "fetch"),
      ...startedBy(simulation, () => simulation.redrive("fetch", () => true)),
    ];
  },
  "a fetch of data, and newer data that is fetched": async (simulation) => {
    await announce(simulation, account);
    const [older] = pollEach(simulation, "fetch");
    const newer = inTurn(
      () => announce(simulation, account),
      () => pollAgain(simulation),
    );
    return older === undefined ? [newer] : [older, newer];
  },
  "an answer of the provider, and a change that it does not know of": async (simulation) => {
    simulation.provider.happen(account, "disconnect", false);
    await drive(simulation, isBeforeFetch);
    const asking = pollEach(simulation, "fetch");
    const event = inTurn(
      async () => {
        simulation.provider.happen(account, "connect", false);
        await drive(simulation, (what) => isBeforeFetch(what) && !what.startsWith("relay"));
      },
      () => startedBy(simulation, () => simulation.relay()),
    );
    return [...asking, event];
  },
  "two asks about an account, of which either is answered last": async (simulation) => {
    simulation.provider.happen(account, "disconnect", false);
    await drive(simulation, isBeforeFetch);
    const asking = pollEach(simulation, "fetch");
    const later = inTurn(
      async () => {
        simulation.provider.happen(account, "connect", false);
        await drive(simulation, isBeforeFetch);
      },
      () => pollAgain(simulation),
    );
    return [...asking, later];
  },
  "the relay, and one that Lambda took for dead, with the same batch": async (simulation) => {
    simulation.provider.happen(account, "disconnect", false);
    await drive(simulation, (what) => isBeforeFetch(what) && !what.startsWith("relay"));
    return [
      ...startedBy(simulation, () => simulation.relay()),
      ...startedBy(simulation, () => simulation.relay()),
    ];
  },
  "two refreshers": async (simulation) => [
    ...startedBy(simulation, () => simulation.refresh()),
    ...startedBy(simulation, () => simulation.refresh()),
  ],
  "a refresher, and an operator who sets a token": async (simulation) => [
    ...startedBy(simulation, () => simulation.refresh()),
    inTurn(() => simulation.secret.set(simulation.provider.issueToken())),
  ],
  "a refresher, and a fetch with the token that it ends": async (simulation) => {
    await announce(simulation, account);
    return [...startedBy(simulation, () => simulation.refresh()), ...pollEach(simulation, "fetch")];
  },
  "a deadline, and the last document, which comes at it": async (simulation) => {
    const isOther = (what: string) => !/^(poll )?deadlines/.test(what);
    simulation.provider.happen(accountWithPages, "connect", false);
    await drive(simulation, isOther);
    simulation.provider.happen(accountWithPages, "profile", true);
    await drive(simulation, (what) => isBeforeFetch(what) && isOther(what));
    simulation.pass(defaultReadiness.deadlineSeconds * 1_000);
    const reading = inTurn(
      () => drive(simulation, (what) => !what.startsWith("relay") && isOther(what)),
      () => startedBy(simulation, () => simulation.relay()),
    );
    return [...pollEach(simulation, "deadlines"), reading];
  },
} satisfies Readonly<Record<string, Race>>;

/** A race that is about an optional setting has it. */
const settingsOf: Partial<Record<keyof typeof races, OptionalSettings>> = {
  "a deadline, and the last document, which comes at it": { readiness: defaultReadiness },
};

/** Milliseconds before each step. */
const stepTakes = 450;

/**
 * Runs every interleaving of a race's steps with this many switches away from a racer that could go on.
 * @returns the number of interleavings
 * @throws if a promise is broken
 */
export function raceEachWay(
  race: keyof typeof races,
  switches: number,
  options: SimulationOptions = {},
): Promise<number> {
  return everyChoice(async (choose) => {
    const simulation = new Simulation(new Provider(true), { settings: settingsOf[race], ...options });
    simulation.provider.happen(account, "connect", false);
    for (const id of accountIds) simulation.provider.happen(id, "data", true);
    await waitUntilIdle(simulation);
    const racers = await races[race](simulation);
    await interleave(simulation, racers, switches, choose);
    await waitUntilIdle(simulation);
    expectAtRest(simulation);
  });
}

async function interleave(
  simulation: Simulation,
  racers: readonly Racer[],
  switches: number,
  choose: Choose,
): Promise<void> {
  let left = switches;
  let current: Racer | undefined;
  for (;;) {
    await simulation.pause();
    expectAlways(simulation);
    const able = racers.filter((racer) => racer() !== undefined);
    if (able.length === 0) return;
    if (current === undefined || !able.includes(current)) current = able[choose(able.length)];
    else if (left > 0) {
      const others = able.filter((racer) => racer !== current);
      const chosen = others[choose(1 + others.length) - 1];
      if (chosen !== undefined) left -= 1;
      current = chosen ?? current;
    }
    simulation.pass(stepTakes);
    await current?.()?.();
  }
}

/** Receives a disconnection twice, which two consumers can then store. */
async function receiveTwice(simulation: Simulation, isOwn: boolean): Promise<void> {
  simulation.provider.happen(account, "disconnect", isOwn);
  await drive(simulation, isReceiving);
  for (const webhook of simulation.provider.webhooks.slice(-1)) simulation.deliver(webhook);
  await drive(simulation, isReceiving);
}

function pollAgain(simulation: Simulation): readonly Racer[] {
  for (const message of simulation.queue("fetch").messages) message.visibleAt = simulation.queueTime;
  return pollEach(simulation, "fetch");
}

/** Racers in sequence; the last step may add more. */
function inTurn(first: () => void | Promise<void>, then: () => readonly Racer[] = () => []): Racer {
  let state: "first" | "then" | readonly Racer[] = "first";
  return () => {
    if (state === "first") {
      return async () => {
        state = "then";
        await first();
      };
    }
    if (state === "then") {
      return () => {
        state = then();
      };
    }
    return state.map((racer) => racer()).find((next) => next !== undefined);
  };
}

function pollEach(simulation: Simulation, name: WorkQueue): readonly Racer[] {
  return simulation
    .queue(name)
    .visible(simulation.queueTime)
    .flatMap((message) => startedBy(simulation, () => simulation.poll(name, [message])));
}

/** Processes that an action starts. */
function startedBy(simulation: Simulation, start: () => void): readonly Racer[] {
  const before = new Set(simulation.processes.running);
  start();
  return simulation.processes.running
    .filter((process) => !before.has(process))
    .map((process) => () => {
      const [step] = process.next;
      return step && (() => step.go("none"));
    });
}
