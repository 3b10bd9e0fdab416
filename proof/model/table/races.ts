import { type Choose, everyChoice } from "../choices.ts";
import { announce, drive, employment, income, isBeforeFetch, isReceiving, ofAnother } from "./drive.ts";
import { comeToRest, expectAlways } from "./laws.ts";
import { redrive, repair } from "./operate.ts";
import { noFault, step } from "./process.ts";
import type { Name, Webhook } from "./provider.ts";
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

/** A document changes, and an event announces it: one step of the provider's. */
function news(world: World, name: Name, isStrong = true): void {
  world.processes.start("provider", Number.POSITIVE_INFINITY, function* () {
    yield* step("changes and announces a document", () => announce(world, name, isStrong));
  });
}

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
  drive(world, isReceiving);
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
    announce(world, income, false);
    drive(world, isReceiving);
    deliverAgain(world);
    pollEach(world);
  },
  "two consumers with two further messages of a weak event": (world) => {
    announce(world, income, false);
    waitUntilIdle(world);
    pass(world, 60_000);
    for (const _ of [1, 2]) {
      announce(world, income, false);
      drive(world, isReceiving);
    }
    pollEach(world);
  },
  "two consumers with the same message": (world) => {
    announce(world, income, false);
    drive(world, isReceiving);
    pollEach(world);
    pollEach(world);
  },
  "two consumers with a strong event": (world) => {
    announce(world, income);
    drive(world, isReceiving);
    deliverAgain(world);
    pollEach(world);
  },
  "the relay, and one that Lambda took for dead": (world) => {
    announce(world, income);
    for (const isConnected of [true, false]) world.provider.connect(income.subject, isConnected, undefined);
    drive(world, (what) => isBeforeFetch(what) && what !== "relay");
    startRelay(world);
    startRelay(world);
  },
  "two fetches of a document, and news of it": (world) => {
    withTask(world, income);
    news(world, income);
    pollAgain(world);
  },
  "two fetches of a new document, and news of it": (world) => {
    announce(world, income);
    drive(world, isBeforeFetch);
    news(world, income);
    pollAgain(world);
  },
  "two fetches of a document in pages, and news of it": (world) => {
    withTask(world, employment);
    news(world, employment);
    pollAgain(world);
  },
  "two fetches of a document that was read within the second, and news of it": (world) => {
    announce(world, income);
    waitUntilIdle(world);
    announce(world, income);
    drive(world, isBeforeFetch);
    news(world, income);
    pollAgain(world);
  },
  "a fetch that called, and one with a newer task": (world) => {
    withTask(world, income);
    pollTasks(world);
    drive(world, (what) => what.startsWith("fetch reads"));
    pass(world, 1_000);
    announce(world, income);
    drive(world, isBeforeFetch);
    loseLocks(world);
    pollTasks(world);
  },
  "a fetch and an erasure": (world) => {
    withTask(world, employment);
    pollTasks(world);
    world.erasures.send({ subject: employment.subject, pass: 1 }, world.queueTime);
    pollErasures(world);
  },
  "a consumer and an erasure": (world) => {
    announce(world, income);
    drive(world, isReceiving);
    pollEach(world);
    world.erasures.send({ subject: income.subject, pass: 1 }, world.queueTime);
    pollErasures(world);
  },
  "a fetch, and a redrive of a task that was given up": (world) => {
    announce(world, income);
    drive(world, isBeforeFetch);
    world.provider.isDown = true;
    for (const message of world.tasks.messages) message.receives = 989;
    pollTasks(world);
    drive(world, (what) => what.startsWith("fetch"));
    world.provider.isDown = false;
    announce(world, income);
    drive(world, isBeforeFetch);
    pollTasks(world);
    world.processes.start("redrive", Number.POSITIVE_INFINITY, () => redrive(world));
  },
  "the relay and a repair": (world) => {
    announce(world, income);
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
    comeToRest(world);
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
    comeToRest(world);
  });
}

const again = (webhook: Webhook | undefined, world: World) => {
  if (webhook !== undefined) webhook.isAnswered = false;
  else throw new Error(`nothing was announced by ${world.isoTime}`);
};

/** Each part is run through before the next begins. */
const story: readonly Race[] = [
  (world) => {
    const { subject } = ofAnother;
    world.provider.connect(subject, true, world.isoTime);
    world.provider.connect(subject, false, new Date(world.now + 1_000).toISOString());
    world.provider.connect(subject, true, new Date(world.now + 2_000).toISOString());
    announce(world, income, false);
    announce(world, income);
    announce(world, employment);
  },
  (world) => {
    announce(world, income, false);
    again(world.provider.webhooks[0], world);
  },
];
