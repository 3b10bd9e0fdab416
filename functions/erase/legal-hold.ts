import { holdKey } from "../../adapters/dynamodb/keys.ts";
import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";
import type { StepDependencies } from "./dependencies.ts";
import { findOwn } from "./find-own.ts";

/**
 * Whether a legal hold keeps an erasure from being begun: one on its subject, on an account that would go with it, or on a
 * user whom an account's records name. What was begun goes on, and what was erased before is erased again.
 */
export async function isHeldBack(task: EraseTask, dependencies: StepDependencies): Promise<boolean> {
  const { subject, cause, next, pass, isDespiteHold = false } = task;
  if (isDespiteHold || pass === 2 || next !== "subjects") return false;
  if (cause !== "operator" && cause !== "deleted") return false;
  const { records, tombstones, digestOf } = dependencies;
  const { own, others } = await findOwn(task, records);
  for (const each of [subject, ...own, ...(subject.kind === "user" ? [] : others)]) {
    if (await isHeld(each, records)) return !(await tombstones.isPlaced(await digestOf(subject)));
  }
  return false;
}

async function isHeld(subject: Subject, records: ErasableRecords): Promise<boolean> {
  const { sk } = holdKey(subject);
  for await (const page of records.pagesOf(subject)) if (page.some(({ key }) => key.sk === sk)) return true;
  return false;
}
