import { z } from "zod";
import { storedDatasource } from "./datasources.ts";
import { type EndpointName, endpointNames } from "./endpoint-names.ts";

export const storedUser = z
  .object({
    id: z.string(),
    /** Name given in the connection flow, shown nowhere else. */
    name: z.string(),
    createdAt: z.coerce.date(),
    /** Opens this user's connection flow; a live credential. */
    session: z.string(),
    sessionExpiresAt: z.coerce.date(),
    /** Whether events announce accounts created in this user's flow; absent: the environment's default. */
    accountAlert: z.boolean().exactOptional(),
    /** The operator's data about the user, for example its own id. */
    metadata: z.record(z.string(), z.unknown()).exactOptional(),
  })
  .readonly();
export type User = z.output<typeof storedUser>;

export type DataVersion = { readonly version: number; readonly updatedAt: Date };

export const storedAccount = z
  .object({
    id: z.string(),
    userId: z.string(),
    datasource: storedDatasource,
    company: z.boolean(),
    createdAt: z.coerce.date(),
    updatedAt: z.coerce.date(),
    connected: z.boolean(),
    deleted: z.boolean(),
    /** Size of the profile's picture in bytes; 0: none. */
    pictureBytes: z.number(),
    data: z
      .array(z.object({ endpoint: z.enum(endpointNames), version: z.number(), updatedAt: z.coerce.date() }))
      .transform(
        (versions): ReadonlyMap<EndpointName, DataVersion> =>
          new Map(versions.map(({ endpoint, ...version }) => [endpoint, version])),
      ),
  })
  .readonly();
/** The link between a user and a datasource. Company accounts are managed through the company API. */
export type Account = z.output<typeof storedAccount>;

/** Serializes an account for `storedAccount`. */
export function keepAccount(account: Account): object {
  return { ...account, data: [...account.data].map(([endpoint, version]) => ({ endpoint, ...version })) };
}
