import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import { permanent } from "../../domain/core/failures.ts";
import { fieldsOf, parseJson, present } from "../../domain/core/parse.ts";
import { type Continuation, pageCall } from "../../domain/fetch/paging.ts";
import { fillPath, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { ReconcileSettings } from "../../domain/reconcile/reconcile-settings.ts";
import { type ListReader, type ListSlice, readSlice } from "../../domain/state/listing.ts";
import { connectedIn } from "../../domain/state/state.ts";

/** The provider's lists. All functions throw as `ProviderClient.call` does. */
export type ProviderLists = {
  /** One page of the users. @throws permanent failure if there is no list */
  readonly users: (from: Continuation | undefined) => Promise<ListSlice>;
  /** All accounts of a user, from all pages; undefined if the settings have no path for them. */
  readonly accountsOf: ((userId: string) => Promise<readonly unknown[]>) | undefined;
  /** Whether the provider knows an account: false after 404 or 410. */
  readonly knowsAccount: (accountId: string) => Promise<boolean>;
  /** A company account; undefined after 404 or 410. */
  readonly companyAccount: (id: string) => Promise<{ readonly connected?: boolean } | undefined>;
};

export function providerLists(
  client: Pick<ProviderClient, "call">,
  { paths, paging }: ProviderSettings,
  { readers }: ReconcileSettings,
): ProviderLists {
  const list = async (path: string, reader: ListReader, missing: string, from?: Continuation) => {
    const answer = await client.call({ method: "GET", ...pageCall(path, paging, from) });
    if (!answer.found) throw permanent(missing);
    return readSlice(reader, answer, paging, from);
  };
  const { users, userAccounts, account, companyAccount } = paths;
  return {
    users: (from) =>
      list(users, readers.users, "the provider lists no users; see provider.paths.users", from),
    accountsOf:
      userAccounts === undefined
        ? undefined
        : async (userId) => {
            const path = fillPath(userAccounts, { kind: "user", id: userId });
            const missing = "the provider lists no accounts of the user; see provider.paths.userAccounts";
            const found: unknown[] = [];
            for (let from: Continuation | undefined; ; ) {
              const { items, next } = await list(path, readers.accounts, missing, from);
              found.push(...items);
              if (next === undefined) return found;
              from = next;
            }
          },
    knowsAccount: async (id) =>
      (await client.call({ method: "GET", path: fillPath(account, { kind: "account", id }) })).found,
    companyAccount: async (id) => {
      const path = fillPath(companyAccount, { kind: "company-account", id });
      const answer = await client.call({ method: "GET", path });
      if (!answer.found) return undefined;
      const what = "the company account at the provider";
      return present({ connected: connectedIn(fieldsOf(parseJson(answer.text, what), what)) });
    },
  };
}
