import { type Choose, everyChoice } from "../choices.ts";
import { expectAlways, expectAtRest } from "./laws.ts";
import { redrive, repair } from "./operate.ts";
import { noFault, step } from "./process.ts";
import { documents, type Name, type Webhook } from "./provider.ts";
import {
  deliver,
  go,
  pass,
  pollErasures,
  pollTasks,
  pollWebhooks,
  startRelay,
  usual,
  waitUntilIdle,
} from "./simulation.ts";
import { World } from "./world.ts";

/** Brings a world to where racers begin, and starts these. */
type Race = (world: World) => void;

const [income, employment] = documents;

function nameOf(name: Name | undefined): Name {
  if (name === undefined) throw new Error("the provider has no such document");
  return name;
}

/** A document changes, and an event announces it: one step of the provider's. */
function news(world: World, name: Name, isStrong = true): void {
  world.processes.start("provider", Number.POSITIVE_INFINITY, function* () {
    yield* step("changes and announces a document", () => announce(world, name, isStrong));
  });
}

function announce(world: World, name: Name, isStrong = true): void {
  world.provider.change(name, world.provider.contentOf(name).version);
  world.provider.announce(name, isStrong, world.isoTime);
}

/** Lets go on what is chosen by its beginning, until none of it is left to do. */
function drive(world: World, isChosen: (what: string) => boolean): void {
  for (;;) {
    const action = usual(world).find(({ what }) => isChosen(what));
    if (action === undefined) return;
    action.run();
  }
}

const isBeforeFetch = (what: string) => !what.startsWith("fetch") && what !== "poll tasks";
const isBeforeStore = (what: string) => what.startsWith("receive") || what === "deliver";

/** SQS hands out messages again that are in flight. */
function loseLocks(world: World): void {
  world.strikes += 1;
  for (const message of world.tasks.messages) message.visibleAt = world.queueTime;
}

function pollAgain(world: World): void {
  pollTasks(world);
  loseLocks(world);
  pollTasks(world);
}

function deliverAgain(world: World): void {
  const [webhook] = world.provider.webhooks;
  if (webhook !== undefined) deliver(world, webhook);
  drive(world, isBeforeStore);
}

function pollEach(world: World): void {
  for (const message of world.webhooks.messages) pollWebhooks(world, [message]);
}

/** A document that was stored a while ago, and an event that announces what it became since. */
function withTask(world: World, name: Name): void {
  announce(world, name);
  waitUntilIdle(world);
  pass(world, 60_000);
  announce(world, name);
  drive(world, isBeforeFetch);
}

export const races = {
  "two consumers with two messages of a weak event": (world) => {
    announce(world, nameOf(income), false);
    drive(world, isBeforeStore);
    deliverAgain(world);
    pollEach(world);
  },
  "two consumers with two further messages of a weak event": (world) => {
    announce(world, nameOf(income), false);
    waitUntilIdle(world);
    pass(world, 60_000);
    for (const _ of [1, 2]) {
      announce(world, nameOf(income), false);
      drive(world, isBeforeStore);
    }
    pollEach(world);
  },
  "two consumers with the same message": (world) => {
    announce(world, nameOf(income), false);
    drive(world, isBeforeStore);
    pollEach(world);
    pollEach(world);
  },
  "two consumers with a strong event": (world) => {
    announce(world, nameOf(income));
    drive(world, isBeforeStore);
    deliverAgain(world);
    pollEach(world);
  },
  "the relay, and one that Lambda took for dead": (world) => {
    announce(world, nameOf(income));
    for (const isConnected of [true, false])
      world.provider.connect(nameOf(income).subject, isConnected, undefined);
    drive(world, (what) => isBeforeFetch(what) && what !== "relay");
    startRelay(world);
    startRelay(world);
  },
  "two fetches of a document, and news of it": (world) => {
    withTask(world, nameOf(income));
    news(world, nameOf(income));
    pollAgain(world);
  },
  "two fetches of a new document, and news of it": (world) => {
    announce(world, nameOf(income));
    drive(world, isBeforeFetch);
    news(world, nameOf(income));
    pollAgain(world);
  },
  "two fetches of a document in pages, and news of it": (world) => {
    withTask(world, nameOf(employment));
    news(world, nameOf(employment));
    pollAgain(world);
  },
  "a fetch and an erasure": (world) => {
    withTask(world, nameOf(employment));
    pollTasks(world);
    world.erasures.send({ subject: nameOf(employment).subject, pass: 1 }, world.queueTime);
    pollErasures(world);
  },
  "a consumer and an erasure": (world) => {
    announce(world, nameOf(income));
    drive(world, isBeforeStore);
    pollEach(world);
    world.erasures.send({ subject: nameOf(income).subject, pass: 1 }, world.queueTime);
    pollErasures(world);
  },
  "a fetch, and a redrive of a task that was given up": (world) => {
    announce(world, nameOf(income));
    drive(world, isBeforeFetch);
    world.provider.isDown = true;
    for (const message of world.tasks.messages) message.receives = 989;
    pollTasks(world);
    drive(world, (what) => what.startsWith("fetch"));
    world.provider.isDown = false;
    announce(world, nameOf(income));
    drive(world, isBeforeFetch);
    pollTasks(world);
    world.processes.start("redrive", Number.POSITIVE_INFINITY, () => redrive(world));
  },
  "the relay and a repair": (world) => {
    announce(world, nameOf(income));
    drive(world, (what) => isBeforeFetch(what) && what !== "relay");
    startRelay(world);
    world.processes.start("repair", Number.POSITIVE_INFINITY, () => repair(world));
  },
} satisfies Readonly<Record<string, Race>>;

/**
 * Runs a race in every interleaving of its steps.
 * @param maxSwitches so many changes from one racer to another, beside those where one ends
 * @param gap see `World`
 * @returns how many interleavings there are
 * @throws where a law is broken
 */
export function raceEachWay(race: keyof typeof races, maxSwitches: number, gap = 0): Promise<number> {
  return everyChoice(async (choose) => {
    const world = new World(gap);
    races[race](world);
    interleave(world, maxSwitches, choose);
    waitUntilIdle(world);
    expectAtRest(world);
  });
}

/** In milliseconds, before each step. */
const stepTakes = 450;

function interleave(world: World, maxSwitches: number, choose: Choose): void {
  let left = maxSwitches;
  let [current] = world.processes.running;
  while (world.processes.running.length > 0) {
    const { running } = world.processes;
    const isRunning = current !== undefined && running.includes(current);
    const others = running.filter((process) => process !== current);
    const chosen = isRunning && left === 0 ? 0 : choose(isRunning ? others.length + 1 : others.length);
    if (isRunning && chosen > 0) left -= 1;
    current = isRunning ? [current, ...others][chosen] : others[chosen];
    if (current === undefined) return;
    pass(world, stepTakes);
    go(world, current, noFault);
    expectAlways(world);
  }
}

const faultKinds = ["none", "fails", "answer is lost", "one fails", "is killed"] as const;

/**
 * Lives a story through with every step struck by every fault.
 * @param maxFaults so many of its steps at once
 * @returns how many runs that were
 * @throws where a law is broken
 */
export function failEachStep(maxFaults: number): Promise<number> {
  return everyChoice(async (choose) => {
    const world = new World();
    let left = maxFaults;
    for (const part of story) {
      part(world);
      for (;;) {
        const [process] = world.processes.running;
        const [action] = usual(world);
        if (action === undefined) break;
        const kind =
          process === undefined || left === 0 ? "none" : (faultKinds[choose(faultKinds.length)] ?? "none");
        if (kind !== "none") left -= 1;
        if (process === undefined) action.run();
        else if (kind === "is killed") {
          world.strikes += 1;
          world.processes.kill(process);
        } else go(world, process, { kind, pick: 0 });
        expectAlways(world);
      }
      pass(world, 60_000);
    }
    waitUntilIdle(world);
    expectAtRest(world);
  });
}

const again = (webhook: Webhook | undefined, world: World) => {
  if (webhook !== undefined) webhook.isAnswered = false;
  else throw new Error(`nothing was announced by ${world.isoTime}`);
};

/** Each part is run through before the next begins. */
const story: readonly Race[] = [
  (world) => {
    world.provider.connect(nameOf(income).subject, true, undefined);
    announce(world, nameOf(income), false);
    announce(world, nameOf(income));
    announce(world, nameOf(employment));
  },
  (world) => {
    announce(world, nameOf(income), false);
    again(world.provider.webhooks[0], world);
  },
];
