import fc from "fast-check";
import { comeToRest, expectAlways } from "./laws.ts";
import { reconcile, redrive } from "./operate.ts";
import type { Fault } from "./process.ts";
import { documents, type Webhook } from "./provider.ts";
import { cleanUp, deliver, go, pass, pollWebhooks, startRelay, usual } from "./simulation.ts";
import { lifetime, World } from "./world.ts";

const faultKinds = ["fails", "answer is lost", "one fails"] as const;
/** In milliseconds: within the tolerance of clocks, around its edge, around SQS's five minutes, and hours. */
const pauses = [1, 300, 900, 1_999, 2_001, 30_000, 299_000, 301_000, 900_000, 21_600_000] as const;
const stepPauses = [0, 0, 1, 40, 700] as const;

type Run = (world: World, pick: number) => void;

function among<T>(list: readonly T[], pick: number, act: (chosen: T) => void): void {
  const chosen = list[pick % Math.max(1, list.length)];
  if (chosen !== undefined) act(chosen);
}

/** What can happen, and how often beside the rest. */
const happenings = {
  "go on": [
    40,
    (world, pick) => {
      pass(world, stepPauses[pick % stepPauses.length] ?? 0);
      among(usual(world), Math.floor(pick / stepPauses.length), ({ run }) => run());
    },
  ],
  "finish a process": [
    10,
    (world, pick) =>
      among(world.processes.running, pick, (process) => {
        while (world.processes.running.includes(process)) go(world, process, { kind: "none", pick: 0 });
      }),
  ],
  "change and announce a document": [
    8,
    (world, pick) => {
      among(documents.slice(0, 3), pick, (name) => {
        world.provider.change(name, Math.floor(pick / 3));
        world.provider.announce(name, pick % 2 === 0, world.isoTime);
      });
    },
  ],
  "change a document": [
    1,
    (world, pick) => among(documents, pick, (name) => world.provider.change(name, pick)),
  ],
  "connect or disconnect": [
    3,
    (world, pick) =>
      among(documents, pick, ({ subject }) =>
        world.provider.connect(subject, pick % 3 !== 0, pick % 4 < 2 ? world.isoTime : undefined),
      ),
  ],
  "deliver a webhook again": [
    4,
    (world, pick) => among(world.provider.webhooks, pick, (webhook: Webhook) => deliver(world, webhook)),
  ],
  "deliver a webhook's message twice": [
    2,
    (world, pick) => among(world.webhooks.messages, pick, (message) => pollWebhooks(world, [message])),
  ],
  "strike a step": [
    5,
    (world, pick) => {
      const fault: Fault = { kind: faultKinds[pick % 3] ?? "fails", pick: Math.floor(pick / 3) };
      among(world.processes.running, pick, (process) => go(world, process, fault));
    },
  ],
  "kill a process": [
    2,
    (world, pick) =>
      among(world.processes.running, pick, (process) => {
        world.strikes += 1;
        world.processes.kill(process);
      }),
  ],
  "lose a lock": [
    2,
    (world, pick) =>
      among(world.tasks.messages, pick, (message) => {
        world.strikes += 1;
        message.visibleAt = world.queueTime;
      }),
  ],
  "let time pass": [5, (world, pick) => pass(world, pauses[pick % pauses.length] ?? 0)],
  "begin or end an outage": [
    2,
    ({ provider }) => {
      provider.isDown = !provider.isDown;
    },
  ],
  "take a relay for dead": [1, (world) => startRelay(world)],
  "replay the stream": [
    2,
    (world, pick) => {
      world.relayed = Math.max(0, world.relayed - 1 - (pick % 5));
    },
  ],
  "receive a task often": [
    1,
    (world, pick) =>
      among(world.tasks.messages, pick, (message) => {
        message.receives = Math.max(message.receives, 989);
      }),
  ],
  "redrive dead letters": [
    1,
    (world) => world.processes.start("redrive", world.now + lifetime, () => redrive(world)),
  ],
  "give a change up": [
    1,
    (world) => {
      const change = world.table.stream[world.relayed];
      const isOfState =
        change?.of === "state" || (change?.of === "event" && change.after.event.endpoint === undefined);
      if (change === undefined || isOfState) return;
      world.relayed += 1;
      world.needsRepair = true;
    },
  ],
  reconcile: [
    1,
    (world, pick) =>
      among(documents, pick, ({ subject }) =>
        world.processes.start("reconcile", world.now + lifetime, () => reconcile(world, subject)),
      ),
  ],
  "erase a subject": [
    1,
    (world, pick) => {
      if (pick % 5 !== 0) return;
      among(documents, pick, ({ subject }) => world.erasures.send({ subject, pass: 1 }, world.queueTime));
    },
  ],
  "delete superseded objects": [1, (world) => cleanUp(world)],
} satisfies Readonly<Record<string, readonly [number, Run]>>;

type Happening = keyof typeof happenings;
const names = Object.keys(happenings).filter((name): name is Happening => name in happenings);
const weighted = names.map((name) => ({ weight: happenings[name][0], arbitrary: fc.constant(name) }));

/** By how much SQS's clock may be ahead of DynamoDB's, in milliseconds. */
const clockGap = fc.constantFrom(0, -900, 900);

/** Any history. */
export const histories = fc.tuple(
  clockGap,
  fc.array(fc.tuple(fc.oneof(...weighted), fc.nat({ max: 999 })), { size: "+1", maxLength: 150 }),
);

export type History = readonly [number, readonly (readonly [Happening, number])[]];

/** Lives a history through, lets it come to rest, and looks at the laws. @throws where one is broken */
export function live([gap, happened]: History): World {
  const world = new World(gap);
  for (const [name, pick] of happened) {
    const run: Run = happenings[name][1];
    run(world, pick);
    expectAlways(world);
  }
  comeToRest(world);
  return world;
}
