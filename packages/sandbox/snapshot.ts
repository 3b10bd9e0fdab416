import type { User } from "./accounts.ts";
import type { EndpointName } from "./endpoint-names.ts";
import type { ProviderModel } from "./provider-model.ts";

export type Snapshot = {
  readonly users: readonly Pick<User, "id" | "createdAt" | "metadata">[];
  /** Including deleted accounts. */
  readonly accounts: readonly {
    readonly id: string;
    readonly userId: string;
    readonly datasourceId: string;
    readonly company: boolean;
    readonly connected: boolean;
    readonly deleted: boolean;
  }[];
  /** Readable data; `version` is its `revision`. */
  readonly endpoints: readonly {
    readonly accountId: string;
    readonly company: boolean;
    readonly endpoint: EndpointName;
    readonly version: number;
  }[];
};

export function takeSnapshot(model: ProviderModel): Snapshot {
  const accounts = model.accounts();
  return {
    users: model.users().map(({ id, createdAt, metadata }) => {
      return { id, createdAt, ...(metadata && { metadata }) };
    }),
    accounts: accounts.map(({ id, userId, datasource, company, connected, deleted }) => {
      return { id, userId, datasourceId: datasource.id, company, connected, deleted };
    }),
    endpoints: accounts
      .filter(({ deleted }) => !deleted)
      .flatMap(({ id, company, data }) =>
        [...data].map(([endpoint, { version }]) => ({ accountId: id, company, endpoint, version })),
      ),
  };
}
