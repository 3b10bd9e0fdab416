import type { Subject } from "../../domain/event/subjects.ts";
import { holdKey } from "./keys.ts";
import type { ReadKey } from "./shared-reads.ts";

/** Those of some subjects that a legal hold is on: one consistent read for all of them. */
export async function holdsIn(read: ReadKey, subjects: readonly Subject[]): Promise<readonly Subject[]> {
  const looks = await Promise.all(
    subjects.map(async (subject) => ((await read(holdKey(subject))) === undefined ? [] : [subject])),
  );
  return looks.flat();
}
