import type { System } from "@income-events/local-stack/system.ts";

/** What the recorded system holds. */
export type Scene = {
  readonly system: System;
  readonly user: string;
  readonly account: string;
  /** Another user with its account, whom no task erases. */
  readonly other: string;
  readonly otherAccount: string;
  /** Runs a command with `--json`, beside the record. */
  readonly ask: (command: string) => Promise<unknown>;
};

/** One thing that operators do often. */
export type Task = {
  readonly title: string;
  /** When one does it, and what to look for, in a sentence or two. */
  readonly text: string;
  /** What happens before, so that there is something to see. */
  readonly prepare?: (scene: Scene) => Promise<void> | void;
  /** Command lines, without `npx income-events`. */
  readonly commands: (scene: Scene) => readonly string[] | Promise<readonly string[]>;
};

const drainMs = 120_000;
const waitUntilIdle = async ({ system }: Scene) => {
  await system.sandbox.waitUntilIdle();
  await system.stack.drained({ deadline: drainMs });
};

/** The ten most common ones, in the order of a day. */
export const tasks: readonly Task[] = [
  {
    title: "See the state of the stage",
    text: "One screen, in the order of the data flow: waiting messages, failures, the last events, the token's life.",
    commands: () => ["status"],
  },
  {
    title: "Find what is wrong",
    text: "Each finding says why it matters and which command fixes it. The exit code is 1 if there is a finding.",
    prepare: async (scene) => {
      const { sandbox } = scene.system;
      sandbox.fireEvent("accounts", { event: "merge_account", account_id: scene.account });
      sandbox.fault({ path: `/api/v0.4/accounts/${scene.account}/income`, status: 422 });
      sandbox.fetchData(scene.account, ["income"]);
      await waitUntilIdle(scene);
    },
    commands: () => ["doctor"],
  },
  {
    title: "Follow a user",
    text: "The events of a user and of all its accounts, the newest first.",
    commands: ({ user }) => [`events list --user ${user} --limit 6`],
  },
  {
    title: "See an event's timeline",
    text: "When it was received, its changes, its fetches, its subscribers; or where it is stuck.",
    commands: async ({ user, ask }) => {
      const listed = await ask(`events list --user ${user} --type account.created --json`);
      return [`events show ${firstId(listed)} --user ${user}`];
    },
  },
  {
    title: "See a record",
    text: "An account's state and data, with personal data masked; `--reveal` shows it.",
    commands: ({ account }) => [`records show account ${account}`],
  },
  {
    title: "See failures and their reasons",
    text: "Dead letters keep their reason. Their content is masked.",
    commands: () => ["dlq list", "dlq show accounts", "dlq show fetch"],
  },
  {
    title: "Try failures again",
    text: "Once the cause is fixed, at the provider as here, or in the settings. A message that fails again comes back with its count.",
    prepare: ({ system }) => system.sandbox.clearFaults(),
    commands: () => ["dlq redrive fetch", "dlq redrive accounts"],
  },
  {
    title: "Send a subscriber messages again",
    text: "The same messages with the same ids, marked with the replay's id: for a subscriber that lost some, or was added later.",
    prepare: waitUntilIdle,
    commands: ({ user }) => ["subscribers list", `replay --subscriber accounts --user ${user}`],
  },
  {
    title: "Look after the token",
    text: "A schedule refreshes it. These commands show its claims, never the token, and refresh it now.",
    commands: () => ["token show", "token refresh"],
  },
  {
    title: "Erase a user",
    text: "Tombstones first, then all data of the user, wherever it is. Data that arrives later is erased too.",
    prepare: waitUntilIdle,
    commands: ({ user }) => [`erase user ${user} --yes`, `events list --user ${user}`],
  },
];

function firstId(listed: unknown): string {
  const [event] = Object(listed).events ?? [];
  const { id } = Object(event);
  if (typeof id !== "string") throw new Error(`no such event: ${JSON.stringify(listed)}`);
  return id;
}
