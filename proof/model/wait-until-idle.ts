import { type Simulation, workQueues } from "./simulation.ts";

const maxSteps = 20_000;
const refreshEverySeconds = 900;

/**
 * Lets everything come to rest, with nothing going wrong any more: webhooks are sent until they are answered, an
 * operator redrives what SQS made dead letters, and sets a token where the refresher raises its alarm.
 * @throws where that never comes
 */
export async function waitUntilIdle(simulation: Simulation): Promise<void> {
  await simulation.pause();
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const [action] = simulation.usual();
    if (action !== undefined) action.run();
    else if (!simulation.provider.isValid(simulation.secret.current.token)) healToken(simulation);
    else if (simulation.nextVisible !== undefined)
      simulation.pass(Math.max(0, simulation.nextVisible - simulation.seconds));
    else if (redrive(simulation) === 0) return;
    await simulation.pause();
  }
  throw new Error("it never comes to rest");
}

/** The refresher runs by its schedule; where it said that it can't help, an operator does. */
function healToken(simulation: Simulation): void {
  const last = simulation.entries.findLast(({ code }) => code.startsWith("TOKEN_"));
  if (last?.code === "TOKEN_REFUSED") simulation.secret.set(simulation.provider.issueToken());
  else {
    simulation.pass(refreshEverySeconds);
    simulation.refresh();
  }
}

/** @returns how many; what has a reason waits for somebody to fix it */
function redrive(simulation: Simulation): number {
  const counts = workQueues.map((name) =>
    simulation.queue(name).redrive(({ reason }) => reason === undefined, simulation.seconds),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
