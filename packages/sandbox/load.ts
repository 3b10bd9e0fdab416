import type { Clock } from "./clock.ts";
import type { World } from "./provider-model.ts";

export type Load = {
  readonly perSecond: number;
  readonly seconds: number;
};

const turnsPerSecond = 10;

/**
 * Makes `perSecond` endpoint events in each second of the clock, by fetching data of the connected accounts in turn;
 * where there is none, a user is made first.
 */
export function runLoad(world: World, clock: Clock, { perSecond, seconds }: Load): void {
  const accounts = connectedAccounts(world);
  const start = clock.now().getTime();
  let made = 0;
  for (let turn = 1; turn <= seconds * turnsPerSecond; turn += 1) {
    const due = Math.round((perSecond * turn) / turnsPerSecond);
    clock.schedule(new Date(start + (turn - 1) * (1000 / turnsPerSecond)), () => {
      for (; made < due; made += 1) fetchOne(world, accounts[made % accounts.length]);
    });
  }
}

function fetchOne(world: World, accountId: string | undefined): void {
  const account = world.account(accountId ?? "");
  // One that was disconnected since the load began has nothing to fetch.
  if (account?.connected === true) world.startFetch(account.id, ["activity"]);
}

function connectedAccounts(world: World): readonly string[] {
  const connected = world.accounts().filter((account) => account.connected && !account.company);
  if (connected.length > 0) return connected.map(({ id }) => id);
  const account = world.submitCredentials(world.registerUser().id);
  return [world.connect(account.id).id];
}
