import { batchesOf } from "../../domain/core/batches.ts";
import { webhookKinds } from "../../domain/event/events.ts";
import { addRemoved, withRefusal } from "../../domain/recovery/erase-progress.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";
import { type Mentions, mentions } from "../../domain/recovery/mentions.ts";
import type { EraserDependencies, TimeLeft } from "./dependencies.ts";

/** Limits of a batch of reads: a parsed body takes many times its bytes. */
const atOnce = { maxItems: 10, maxBytes: 4 * 1024 * 1024 };

/** Name of the count in the report. A dry run also counts bodies that are still pointed to. */
const foundByContent = "bodies found by content";

/**
 * Removes large bodies that name the erased subjects and that nothing points to any more: their events have
 * expired, their dead letters were purged, or their receiver died before it sent its message. Only the
 * content shows whom a body names, so all bodies are read. If the time is over, the next message continues.
 */
export async function removeBodies(
  task: EraseTask,
  dependencies: EraserDependencies,
  timeLeft: TimeLeft,
): Promise<EraseTask> {
  const { objects } = dependencies;
  const { lastBody, ...rest } = task;
  const isNamed = mentions(task.erased);
  let removed = task.removed;
  let refused = lastBody === undefined ? withRefusal(task.refused, "large bodies", false) : task.refused;
  for await (const page of objects.pagesBelow("bodies/", lastBody)) {
    for (const batch of batchesOf(page, { ...atOnce, bytesOf: ({ bytes }) => bytes })) {
      const found = await Promise.all(batch.map(({ key }) => removeIfNamed(key, isNamed, dependencies)));
      const count = found.filter((each) => each === "removed").length;
      if (found.includes("refused")) refused = withRefusal(refused, "large bodies", true);
      if (count > 0) removed = addRemoved(removed, { [foundByContent]: count });
      const last = batch.at(-1)?.key;
      if (last !== undefined && timeLeft.isOver()) return { ...rest, removed, refused, lastBody: last };
    }
  }
  return { ...rest, removed, refused, next: "undelivered changes" };
}

async function removeIfNamed(
  key: string,
  isNamed: Mentions,
  { bodies, objects }: EraserDependencies,
): Promise<"removed" | "kept" | "refused"> {
  const content = await bodies.tryGet(key);
  if (content === "missing") return "kept";
  if (content === "refused") return "refused";
  const text = Buffer.from(content).toString("utf8");
  const kind = webhookKinds.find((each) => key.startsWith(`bodies/${each}/`));
  // Only the pointer had the encoding, so search the text both as it is and decoded.
  const texts = [text, Buffer.from(text, "base64").toString("utf8")];
  if (!texts.some((each) => isNamed(each, kind))) return "kept";
  await objects.remove(key);
  return "removed";
}
