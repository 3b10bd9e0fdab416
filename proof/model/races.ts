import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { type Choose, everyChoice } from "./choices.ts";
import { drive, isBeforeFetch, isReceiving } from "./drive.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider } from "./provider.ts";
import { type WorkQueue, World } from "./simulation.ts";
import type { TableMutation } from "./table.ts";
import { settle } from "./wait-until-idle.ts";

const [account] = accountIds;

/** One of those who race: what it does next; undefined where nothing is left to it. */
type Racer = () => (() => void | Promise<void>) | undefined;
type Race = (world: World) => Promise<readonly Racer[]>;

/** Races that two can come to, on a world that is at rest and knows an account with data. */
export const races = {
  "two consumers with the same event": async (world) => {
    world.provider.happen(account, "disconnect", false);
    await drive(world, isReceiving);
    for (const webhook of world.provider.webhooks.slice(-1)) world.deliver(webhook);
    await drive(world, isReceiving);
    return pollEach(world, "accounts");
  },
  "two consumers with the same event, of which one has a new mapping": async (world) => {
    world.provider.happen(account, "disconnect", true);
    await drive(world, isReceiving);
    for (const webhook of world.provider.webhooks.slice(-1)) world.deliver(webhook);
    await drive(world, isReceiving);
    const [one, ...others] = world.queue("accounts").visible(world.seconds);
    const old = startedBy(world, () => one && world.poll("accounts", [one]));
    // It does not read the event's time.
    world.accountsMapping = defaultMapping.accounts;
    return [...old, ...startedBy(world, () => world.poll("accounts", others))];
  },
  "two fetches of the same data": async (world) => {
    world.provider.happen(account, "data", true);
    await drive(world, isBeforeFetch);
    const tasks = world.queue("fetch").messages.filter(({ visibleAt }) => visibleAt <= world.seconds);
    for (const { body } of tasks) world.send("fetch", { body });
    return pollEach(world, "fetch");
  },
  "a fetch of data, and newer data that is fetched": async (world) => {
    world.provider.happen(account, "data", true);
    await drive(world, isBeforeFetch);
    const [older] = pollEach(world, "fetch");
    const newer = inTurn(
      async () => {
        world.provider.happen(account, "data", true);
        await drive(world, isBeforeFetch);
      },
      () => pollEach(world, "fetch"),
    );
    return older === undefined ? [newer] : [older, newer];
  },
  "an answer of the provider, and a change that it does not know of": async (world) => {
    world.provider.happen(account, "disconnect", false);
    await drive(world, isBeforeFetch);
    const asking = pollEach(world, "fetch");
    const event = inTurn(
      async () => {
        world.provider.happen(account, "connect", false);
        await drive(world, (what) => isBeforeFetch(what) && !what.startsWith("relay"));
      },
      () => startedBy(world, () => world.relay()),
    );
    return [...asking, event];
  },
  "two asks about an account, of which either is answered last": async (world) => {
    world.provider.happen(account, "disconnect", false);
    await drive(world, isBeforeFetch);
    const asking = pollEach(world, "fetch");
    const later = inTurn(
      async () => {
        world.provider.happen(account, "connect", false);
        await drive(world, isBeforeFetch);
      },
      () => pollEach(world, "fetch"),
    );
    return [...asking, later];
  },
  "the relay, and one that Lambda took for dead, with the same batch": async (world) => {
    world.provider.happen(account, "disconnect", false);
    await drive(world, (what) => isBeforeFetch(what) && !what.startsWith("relay"));
    return [...startedBy(world, () => world.relay()), ...startedBy(world, () => world.relay())];
  },
  "two refreshers": async (world) => [
    ...startedBy(world, () => world.refresh()),
    ...startedBy(world, () => world.refresh()),
  ],
  "a refresher, and an operator who sets a token": async (world) => [
    ...startedBy(world, () => world.refresh()),
    inTurn(() => world.secret.set(world.provider.issueToken())),
  ],
  "a refresher, and a fetch with the token that it ends": async (world) => {
    world.provider.happen(account, "data", true);
    await drive(world, isBeforeFetch);
    return [...startedBy(world, () => world.refresh()), ...pollEach(world, "fetch")];
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
    const world = new World(new Provider(true), mutation);
    world.provider.happen(account, "connect", false);
    world.provider.happen(account, "data", true);
    await settle(world);
    const racers = await races[race](world);
    await interleave(world, racers, switches, choose);
    await settle(world);
    expectAtRest(world);
  });
}

async function interleave(
  world: World,
  racers: readonly Racer[],
  switches: number,
  choose: Choose,
): Promise<void> {
  let left = switches;
  let current: Racer | undefined;
  for (;;) {
    await world.pause();
    expectAlways(world);
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

function pollEach(world: World, name: WorkQueue): readonly Racer[] {
  return world
    .queue(name)
    .visible(world.seconds)
    .flatMap((message) => startedBy(world, () => world.poll(name, [message])));
}

/** The processes that something starts. */
function startedBy(world: World, start: () => void): readonly Racer[] {
  const before = new Set(world.processes.running);
  start();
  return world.processes.running
    .filter((process) => !before.has(process))
    .map((process) => () => {
      const [step] = process.next;
      return step && (() => step.go("none"));
    });
}
