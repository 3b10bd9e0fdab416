import { type Datasource, isCategory } from "./datasources.ts";
import { type EndpointName, isEndpointName } from "./endpoint-names.ts";
import { fieldsOf, listOf, numberOf, textOf, timestampOf } from "./parse.ts";

export type User = {
  readonly id: string;
  /** Name given in the connection flow, shown nowhere else. */
  readonly name: string;
  readonly createdAt: Date;
  /** Opens this user's connection flow; a live credential. */
  readonly session: string;
  readonly sessionExpiresAt: Date;
  /** Whether events announce accounts created in this user's flow; absent: the environment's default. */
  readonly accountAlert?: boolean;
  /** The operator's data about the user, for example its own id. */
  readonly metadata?: Readonly<Record<string, unknown>>;
};

export type DataVersion = { readonly version: number; readonly updatedAt: Date };

/** The link between a user and a datasource. Company accounts are managed through the company API. */
export type Account = {
  readonly id: string;
  readonly userId: string;
  readonly datasource: Datasource;
  readonly company: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly connected: boolean;
  readonly deleted: boolean;
  /** Size of the profile's picture in bytes; 0: none. */
  readonly pictureBytes: number;
  readonly data: ReadonlyMap<EndpointName, DataVersion>;
};

/** Serializes an account for `parseAccount`. */
export function keepAccount(account: Account): object {
  return { ...account, data: [...account.data].map(([endpoint, version]) => ({ endpoint, ...version })) };
}

export function parseUser(value: unknown): User {
  const fields = fieldsOf(value);
  return {
    id: textOf(fields, "id"),
    name: textOf(fields, "name"),
    createdAt: timestampOf(fields, "createdAt"),
    session: textOf(fields, "session"),
    sessionExpiresAt: timestampOf(fields, "sessionExpiresAt"),
    ...(typeof fields.accountAlert === "boolean" ? { accountAlert: fields.accountAlert } : {}),
    ...(fields.metadata === undefined ? {} : { metadata: fieldsOf(fields.metadata) }),
  };
}

export function parseAccount(value: unknown): Account {
  const fields = fieldsOf(value);
  return {
    id: textOf(fields, "id"),
    userId: textOf(fields, "userId"),
    datasource: parseDatasource(fields.datasource),
    company: fields.company === true,
    createdAt: timestampOf(fields, "createdAt"),
    updatedAt: timestampOf(fields, "updatedAt"),
    connected: fields.connected === true,
    deleted: fields.deleted === true,
    pictureBytes: numberOf(fields, "pictureBytes"),
    data: new Map(listOf(fields, "data").map(parseDataVersion)),
  };
}

function parseDatasource(value: unknown): Datasource {
  const fields = fieldsOf(value);
  const category = textOf(fields, "category");
  if (!isCategory(category)) throw new TypeError(`there is no category of datasources ${category}`);
  return { id: textOf(fields, "id"), name: textOf(fields, "name"), category };
}

function parseDataVersion(value: unknown): [EndpointName, DataVersion] {
  const fields = fieldsOf(value);
  const endpoint = textOf(fields, "endpoint");
  if (!isEndpointName(endpoint)) throw new TypeError(`there is no endpoint ${endpoint}`);
  return [endpoint, { version: numberOf(fields, "version"), updatedAt: timestampOf(fields, "updatedAt") }];
}
