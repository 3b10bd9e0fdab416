import { fetch } from "./fetch.ts";
import { erase, redrive, repair } from "./operate.ts";
import { type Fault, noFault, type Running } from "./process.ts";
import type { Webhook } from "./provider.ts";
import type { Message } from "./queues.ts";
import { relay } from "./relay.ts";
import { check } from "./state-tasks.ts";
import { receive, store } from "./store.ts";
import { batch, lifetime, visibility, type World } from "./world.ts";

const maxSteps = 20_000;

export type Action = { readonly what: string; readonly run: () => void };

export function deliver(world: World, webhook: Webhook): void {
  world.processes.start("receive", world.now + lifetime, () => receive(world, webhook));
}

/** A function gets what its queue hands out. */
export function pollWebhooks(world: World, messages: readonly Message<Webhook>[]): void {
  const received = world.webhooks.receive(messages, world.queueTime, visibility);
  world.processes.start("store", world.now + lifetime, () => store(world, received));
}

export function pollTasks(world: World): void {
  const visible = world.tasks.visible(world.queueTime).slice(0, batch);
  const received = world.tasks.receive(visible, world.queueTime, visibility);
  if (received.length === 0) return;
  world.processes.start("fetch", world.now + lifetime, (skew) =>
    fetch(world, received, () => world.now + skew),
  );
}

export function pollChecks(world: World): void {
  for (const message of world.checks.receive(
    world.checks.visible(world.queueTime),
    world.queueTime,
    visibility,
  )) {
    world.processes.start("check", world.now + lifetime, () => check(world, message));
  }
}

export function pollErasures(world: World): void {
  const visible = world.erasures.visible(world.queueTime);
  for (const message of world.erasures.receive(visible, world.queueTime, visibility)) {
    world.processes.start("erase", world.now + lifetime, () => erase(world, message));
  }
}

export function startRelay(world: World): void {
  const from = world.relayed;
  world.processes.start("relay", world.now + lifetime, () => relay(world, from, batch));
}

export function go(world: World, process: Running, fault: Fault): void {
  if (fault.kind !== "none") world.strikes += 1;
  world.processes.go(process, fault);
}

/** Time passes: processes that have lived too long are ended. */
export function pass(world: World, millis: number): void {
  world.now += millis;
  const before = world.processes.running.length;
  world.processes.killOlder(world.now);
  world.strikes += before - world.processes.running.length;
}

/** What can happen next without anything going wrong. */
export function usual(world: World): readonly Action[] {
  const { processes, provider, table, queueTime } = world;
  const steps = processes.running.map((process) => ({
    what: `${process.name} ${process.what}`,
    run: () => go(world, process, noFault),
  }));
  const when = (isPossible: boolean, what: string, run: () => void) => (isPossible ? [{ what, run }] : []);
  const webhooks = world.webhooks.visible(queueTime).slice(0, batch);
  const underWay =
    processes.count("receive") > 0 ? [] : provider.webhooks.filter(({ isAnswered }) => !isAnswered);
  return [
    ...steps,
    ...when(processes.count("relay") === 0 && world.relayed < table.stream.length, "relay", () =>
      startRelay(world),
    ),
    ...when(webhooks.length > 0, "poll webhooks", () => pollWebhooks(world, webhooks)),
    ...when(world.tasks.visible(queueTime).length > 0, "poll tasks", () => pollTasks(world)),
    ...when(world.checks.visible(queueTime).length > 0, "poll checks", () => pollChecks(world)),
    ...when(world.erasures.visible(queueTime).length > 0, "poll erasures", () => pollErasures(world)),
    ...underWay.map((webhook) => ({ what: "deliver", run: () => deliver(world, webhook) })),
  ];
}

/**
 * Lets everything come to rest, with nothing going wrong any more: webhooks are sent until they are answered, dead
 * letters are redriven, and what the stream gave up is repaired.
 * @throws where that never comes
 */
export function waitUntilIdle(world: World): void {
  world.provider.isDown = false;
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const [action] = usual(world);
    const next = nextVisible(world);
    if (action !== undefined) action.run();
    else if (next !== undefined) world.now += Math.max(1, next - world.queueTime);
    else if (world.tasks.deadLetters.length > 0) {
      world.processes.start("redrive", Number.POSITIVE_INFINITY, () => redrive(world));
    } else if (world.needsRepair) {
      world.processes.start("repair", Number.POSITIVE_INFINITY, () => repair(world));
    } else return;
  }
  throw new Error("it never comes to rest");
}

/** When the next message can be received; undefined where none waits. */
function nextVisible(world: World): number | undefined {
  const { webhooks, tasks, checks, erasures } = world;
  const messages: readonly { readonly visibleAt: number }[] = [webhooks, tasks, checks, erasures].flatMap(
    (queue): readonly { readonly visibleAt: number }[] => queue.messages,
  );
  // In a group of the FIFO queue those that could be seen wait for the one that is hidden.
  const times = messages.map(({ visibleAt }) => visibleAt).filter((time) => time > world.queueTime);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Deletes the objects that documents named once. */
export function cleanUp(world: World): void {
  for (const object of world.superseded.splice(0)) world.objects.delete(object);
}
