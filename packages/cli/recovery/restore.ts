import type { RestoredItem } from "../../../adapters/dynamodb/table-copy.ts";
import type { DigestOf } from "../../../adapters/erasure/subject-digest.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { Terminal } from "../core/terminal.ts";

export type RestorePorts = {
  /** All that the restored table holds; read twice. */
  readonly read: () => AsyncIterable<readonly RestoredItem[]>;
  /** @returns false where the stage's table has an item in that place */
  readonly copy: (item: RestoredItem) => Promise<boolean>;
  /** Digests of whom was erased. */
  readonly erased: ReadonlySet<string>;
  readonly digestOf: DigestOf;
  readonly terminal: Pick<Terminal, "progress">;
};

export type Restored = {
  readonly copied: number;
  /** There was something newer in their place. */
  readonly kept: number;
  /** Not copied, for they speak of somebody who was erased since. */
  readonly left: number;
  /** Who was erased since, and is in the restored table. */
  readonly erased: readonly Subject[];
};

/** Writes that are under way together. */
const atOnce = 25;

/**
 * Copies a restored table's items into the stage's, without those of whom was erased since. Events come last: by then
 * their states are there and know them, so that versions go on where they were.
 */
export async function restore(ports: RestorePorts): Promise<Restored> {
  const erased = new Map<string, Subject>();
  const [rest, events] = [counter(), counter()];
  await copyAll((item) => !item.isEvent, rest, erased, ports);
  ports.terminal.progress(
    `States, data and links: ${rest.copied} copied, ${rest.kept} were there. Next: events.`,
  );
  await copyAll((item) => item.isEvent, events, erased, ports);
  return {
    copied: rest.copied + events.copied,
    kept: rest.kept + events.kept,
    left: rest.left + events.left,
    erased: [...erased.values()],
  };
}

function counter() {
  return { copied: 0, kept: 0, left: 0 };
}

async function copyAll(
  isWanted: (item: RestoredItem) => boolean,
  counts: ReturnType<typeof counter>,
  erased: Map<string, Subject>,
  ports: RestorePorts,
): Promise<void> {
  for await (const page of ports.read()) {
    for (const batch of batchesOf(page.filter(isWanted), { maxItems: atOnce })) {
      await Promise.all(
        batch.map(async (item) => {
          const gone = await erasedAmong(item, ports);
          for (const subject of gone) erased.set(nameOf(subject), subject);
          if (gone.length > 0) counts.left += 1;
          else if (await ports.copy(item)) counts.copied += 1;
          else counts.kept += 1;
        }),
      );
    }
  }
}

async function erasedAmong(
  { subjects }: RestoredItem,
  { erased, digestOf }: RestorePorts,
): Promise<readonly Subject[]> {
  const digests = await Promise.all(subjects.map(digestOf));
  return subjects.filter((_, index) => erased.has(digests[index] ?? ""));
}
