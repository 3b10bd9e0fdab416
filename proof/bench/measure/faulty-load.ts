import { drive } from "../drive/drive.ts";
import { type Injected, injectFaults } from "../faults/inject.ts";
import { titles } from "../implementations.ts";
import type { Webhook } from "../workload.ts";
import type { RunningImplementations } from "./running-implementations.ts";

/**
 * Lets all implementations take a load while their calls fail and their functions are killed, by the same schedule.
 * What it costs them is not counted, only what they have in the end.
 * @throws where a kind of fault never came to pass on an implementation
 */
export async function takeUnderFaults(
  { contenders }: RunningImplementations,
  load: readonly Webhook[],
  onProgress: (step: string) => void,
): Promise<void> {
  await Promise.all(
    contenders.map(async ({ running }) => {
      using injected = injectFaults(running);
      await drive(running, load, { expectsFailures: true });
      onProgress(`under faults, ${titles[running.implementation]}: ${report(injected)}`);
    }),
  );
}

function report({ counts }: Injected): string {
  const each = Object.entries(counts());
  const absent = each.filter(([, count]) => count === 0).map(([fault]) => fault);
  if (absent.length > 0) throw new Error(`The faults ${absent.join(", ")} never came: the load is too small`);
  return each.map(([fault, count]) => `${fault} ${count}`).join(", ");
}
