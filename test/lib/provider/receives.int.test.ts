import { expect, it } from "vitest";
import { giveUpLimits, maxReceiveCount, waitFor } from "../../../domain/fetch/waiting.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { productionSettings, synthesized } from "../synthesized.ts";

const production = synthesized(productionSettings);
const { longestOutageHours, retry } = parseSettings(productionSettings, "production").fetch;

/** Receives of a task while the provider is down for the longest time, with the shortest waits that chance gives. */
function receivesOfOutage(): number {
  let receives = 0;
  for (let seconds = 0; seconds < longestOutageHours * 3_600; receives += 1)
    seconds += Math.min(...[0, 1].map((random) => waitFor(receives + 1, retry, random)));
  return receives;
}

it.each(["FetchWorkQueue", "FetchChecksQueue"])(
  "a task bears 12 hours without concurrency beside the longest outage of the provider: %s",
  (name) => {
    const { RedrivePolicy, MessageRetentionPeriod, VisibilityTimeout } = production.withId(name).Properties;
    expect(RedrivePolicy).toMatchObject({ maxReceiveCount });
    const { maxReceives } = giveUpLimits(Number(MessageRetentionPeriod));
    // Each is hidden for the queue's time, in vain.
    const receivesInVain = maxReceives - receivesOfOutage();
    expect(receivesInVain * Number(VisibilityTimeout)).toBeGreaterThan(12 * 3_600);
  },
);
