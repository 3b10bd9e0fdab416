import { setTimeout as sleep } from "node:timers/promises";
import type { BackOff } from "../../adapters/dynamodb/shared-writes.ts";

const firstCeilingInMs = 50;

/** Waits at random up to a ceiling that doubles with each attempt: short beside the time that an invocation has. */
export const backOff: BackOff = async (attempts) => {
  await sleep(Math.random() * firstCeilingInMs * 2 ** attempts);
};
