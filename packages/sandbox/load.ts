import type { Clock } from "./clock.ts";
import type { ProviderModel } from "./provider-model.ts";

export type Load = {
  readonly perSecond: number;
  readonly seconds: number;
};

const turnsPerSecond = 10;

/**
 * Creates `perSecond` endpoint events per second of the clock by fetching data of connected accounts in turn;
 * creates a user first if there is none.
 */
export function runLoad(model: ProviderModel, clock: Clock, { perSecond, seconds }: Load): void {
  const accounts = connectedAccounts(model);
  const start = clock.now().getTime();
  let made = 0;
  const plan = (turn: number) => {
    if (turn > seconds * turnsPerSecond) return;
    clock.schedule(new Date(start + (turn - 1) * (1000 / turnsPerSecond)), () => {
      const due = Math.round((perSecond * turn) / turnsPerSecond);
      for (; made < due; made += 1) fetchOne(model, accounts[made % accounts.length]);
      plan(turn + 1);
    });
  };
  plan(1);
}

function fetchOne(model: ProviderModel, accountId: string | undefined): void {
  const account = model.account(accountId ?? "");
  // The account may have been disconnected since the load began.
  if (account?.connected === true) model.startFetch(account.id, ["activity"]);
}

function connectedAccounts(model: ProviderModel): readonly string[] {
  const connected = model.accounts().filter((account) => account.connected && !account.company);
  if (connected.length > 0) return connected.map(({ id }) => id);
  const account = model.submitCredentials(model.registerUser().id);
  return [model.connect(account.id).id];
}
