import type { Account } from "../accounts.ts";
import type { Clock } from "../clock.ts";
import type { Datasource } from "../datasources.ts";
import { countUnderWay } from "../fetches.ts";
import type { EnvironmentName } from "../provider-interface.ts";
import type { ProviderModel } from "../provider-model.ts";
import type { Analytics } from "./analytics.ts";
import { type Credentials, type SignIn, signIn } from "./credentials.ts";

export type SignInState =
  | { readonly status: "signing-in" }
  | { readonly status: "connected" }
  | { readonly status: "refused"; readonly reason: string };

export type SignIns = ReturnType<typeof createSignIns>;

export type SignInDependencies = {
  readonly environment: EnvironmentName;
  readonly model: ProviderModel;
  readonly clock: Clock;
  readonly analytics: Analytics;
  /** Time that a datasource takes to check credentials, in milliseconds of the clock. */
  readonly signInDurationMs: number;
  readonly onResult: (account: Account, result: SignIn) => void;
};

export function createSignIns(dependencies: SignInDependencies) {
  const { environment, model, clock, analytics, signInDurationMs, onResult } = dependencies;
  const refused = new Map<string, string>();
  const checking = new Set<string>();
  const underWay = countUnderWay();

  function end(accountId: string, datasourceId: string, credentials: Credentials): void {
    checking.delete(accountId);
    const result = signIn(environment, credentials);
    analytics.add(result.accepted ? "connected" : "refused", datasourceId);
    if (!result.accepted) refused.set(accountId, result.reason);
    else if (model.account(accountId)?.deleted === false) model.connect(accountId);
    const account = model.account(accountId);
    if (account !== undefined) onResult(account, result);
    underWay.end();
  }

  return {
    /** Submits credentials: creates the account, and connects it once the datasource accepts them. */
    start: (userId: string, datasource: Datasource, credentials: Credentials): Account => {
      analytics.add("submitted", datasource.id);
      // A retry after a refusal uses the same account.
      const account =
        model.accountsOf(userId).find((known) => known.datasource.id === datasource.id) ??
        model.submitCredentials(userId, { datasource });
      refused.delete(account.id);
      checking.add(account.id);
      underWay.begin();
      const due = new Date(clock.now().getTime() + signInDurationMs);
      clock.schedule(due, () => end(account.id, datasource.id, credentials));
      return account;
    },
    stateOf: ({ id, connected }: Account): SignInState => {
      if (checking.has(id)) return { status: "signing-in" };
      if (connected) return { status: "connected" };
      return { status: "refused", reason: refused.get(id) ?? "The account is not connected any more." };
    },
    /** Resolves when no datasource is checking credentials. */
    ended: underWay.none,
  };
}
