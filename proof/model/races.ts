import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { type Choose, everyChoice } from "./choices.ts";
import { drive, isBeforeFetch, isReceiving } from "./drive.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider } from "./provider.ts";
import { Simulation, type WorkQueue } from "./simulation.ts";
import type { TableMutation } from "./table.ts";
import { waitUntilIdle } from "./wait-until-idle.ts";

const [account] = accountIds;

/** One of those who race: what it does next; undefined where nothing is left to it. */
type Racer = () => (() => void | Promise<void>) | undefined;
type Race = (simulation: Simulation) => Promise<readonly Racer[]>;

/** Races that two can come to, on a world that is at rest and knows an account with data. */
export const races = {
  "two consumers with the same event": async (simulation) => {
    simulation.provider.happen(account, "disconnect", false);
    await drive(simulation, isReceiving);
    for (const webhook of simulation.provider.webhooks.slice(-1)) simulation.deliver(webhook);
    await drive(simulation, isReceiving);
    return pollEach(simulation, "accounts");
  },
  "two consumers with the same event, of which one has a new mapping": async (simulation) => {
    simulation.provider.happen(account, "disconnect", true);
    await drive(simulation, isReceiving);
    for (const webhook of simulation.provider.webhooks.slice(-1)) simulation.deliver(webhook);
    await drive(simulation, isReceiving);
    const [one, ...others] = simulation.queue("accounts").visible(simulation.seconds);
    const old = startedBy(simulation, () => one && simulation.poll("accounts", [one]));
    // It does not read the event's time.
    simulation.accountsMapping = defaultMapping.accounts;
    return [...old, ...startedBy(simulation, () => simulation.poll("accounts", others))];
  },
  "two fetches of the same data": async (simulation) => {
    simulation.provider.happen(account, "data", true);
    await drive(simulation, isBeforeFetch);
    const tasks = simulation
      .queue("fetch")
      .messages.filter(({ visibleAt }) => visibleAt <= simulation.seconds);
    for (const { body } of tasks) simulation.send("fetch", { body });
    return pollEach(simulation, "fetch");
  },
  "a fetch of data, and newer data that is fetched": async (simulation) => {
    simulation.provider.happen(account, "data", true);
    await drive(simulation, isBeforeFetch);
    const [older] = pollEach(simulation, "fetch");
    const newer = inTurn(
      async () => {
        simulation.provider.happen(account, "data", true);
        await drive(simulation, isBeforeFetch);
      },
      () => pollEach(simulation, "fetch"),
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
      () => pollEach(simulation, "fetch"),
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
    simulation.provider.happen(account, "data", true);
    await drive(simulation, isBeforeFetch);
    return [...startedBy(simulation, () => simulation.refresh()), ...pollEach(simulation, "fetch")];
  },
} satisfies Readonly<Record<string, Race>>;

/**
 * Lets a race go through every interleaving of its steps with so many switches from one that could go on to another.
 * @returns how many these are
 * @throws where a promise is broken
 */
export function raceEachWay(
  race: keyof typeof races,
  switches: number,
  mutation: TableMutation = "none",
): Promise<number> {
  return everyChoice(async (choose) => {
    const simulation = new Simulation(new Provider(true), mutation);
    simulation.provider.happen(account, "connect", false);
    simulation.provider.happen(account, "data", true);
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
    await current?.()?.();
  }
}

/** Does one thing after the other; the last may bring those who go on. */
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
    .visible(simulation.seconds)
    .flatMap((message) => startedBy(simulation, () => simulation.poll(name, [message])));
}

/** The processes that something starts. */
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
