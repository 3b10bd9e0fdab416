import { join } from "node:path";
import type { Scene } from "./tasks.ts";

const directory = join(import.meta.dirname, "../../docs/operate");

/** A page with one block of what a terminal showed, and what is run for it. */
export type ShownPage = {
  readonly file: string;
  readonly prepare?: (scene: Scene) => Promise<void>;
  readonly commands: (scene: Scene) => readonly string[];
};

/** Recorded after the tasks, on the same system: `user` is erased there, `other` is not. */
export const shownPages: readonly ShownPage[] = [
  {
    file: join(directory, "looking-up.md"),
    commands: ({ otherAccount }) => [
      `events list --account ${otherAccount} --type account.*`,
      `records show account ${otherAccount} --data profile`,
    ],
  },
  {
    file: join(directory, "dead-letters.md"),
    prepare: async (scene) => {
      const { sandbox, stack } = scene.system;
      sandbox.fireEvent("accounts", { event: "merge_account", account_id: scene.otherAccount });
      await sandbox.waitUntilIdle();
      await stack.drained({ deadline: 120_000 });
    },
    commands: () => ["dlq show accounts --limit 1", "dlq purge accounts --reason merge_account --yes"],
  },
  {
    file: join(directory, "replay.md"),
    commands: ({ other }) => [
      `replay --subscriber accounts --user ${other} --dry-run`,
      `repair --user ${other} --dry-run`,
    ],
  },
  { file: join(directory, "tokens.md"), commands: () => ["provider"] },
  { file: join(directory, "audit.md"), commands: () => ["audit list --limit 3"] },
];
