import { type World, workQueues } from "./simulation.ts";

const mostSteps = 20_000;
const refreshEverySeconds = 900;

/**
 * Lets everything come to rest, with nothing going wrong any more: webhooks are sent until they are answered, an
 * operator redrives what SQS made dead letters, and sets a token where the refresher raises its alarm.
 * @throws where that never comes
 */
export async function settle(world: World): Promise<void> {
  await world.pause();
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const [action] = world.usual();
    if (action !== undefined) action.run();
    else if (!world.provider.isValid(world.secret.current.token)) healToken(world);
    else if (world.nextVisible !== undefined) world.pass(Math.max(0, world.nextVisible - world.seconds));
    else if (redrive(world) === 0) return;
    await world.pause();
  }
  throw new Error("it never comes to rest");
}

/** The refresher runs by its schedule; where it said that it can't help, an operator does. */
function healToken(world: World): void {
  const last = world.entries.findLast(({ code }) => code.startsWith("TOKEN_"));
  if (last?.code === "TOKEN_REFUSED") world.secret.set(world.provider.issueToken());
  else {
    world.pass(refreshEverySeconds);
    world.refresh();
  }
}

/** @returns how many; what has a reason waits for somebody to mend it */
function redrive(world: World): number {
  const counts = workQueues.map((name) =>
    world.queue(name).redrive(({ reason }) => reason === undefined, world.seconds),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
