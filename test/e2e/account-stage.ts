import { join } from "node:path";
import { DynamoDBClient, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import { readTable } from "../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../support/eventually.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { contentIn } from "../support/stored-content.ts";

/** A running product with a provider, and queries by account. */
export type AccountStage = RunningProduct & {
  waitUntilIdle(): Promise<void>;
  /** Returns the id of an account that no test has used and whose data is all fetched. */
  connectedAccount(): Promise<string>;
  stateOf(accountId: string): Promise<unknown>;
  /** The account's documents of an endpoint: `income` for the whole document, `income#` for its ranges. */
  documentsOf(accountId: string, name: string): Promise<readonly unknown[]>;
  /** The account's items whose sort key has this prefix. */
  itemsOf(accountId: string, sortKey: string): Promise<readonly Record<string, unknown>[]>;
  /** Calls to the provider about an account since a time: `GET income`, or `GET` for its state. */
  callsOf(accountId: string, since?: number): readonly string[];
  callsSoFar(): number;
};

/** Reads income by date ranges, all other endpoints as a whole. */
export async function startAccountStage(): Promise<AccountStage> {
  const { provider } = loadSettings("local", join(import.meta.dirname, "../../stages"));
  const income = "/api/v0.4/accounts/{account_id}/income?date_start={date_start}&date_end={date_end}";
  const paths = { ...provider.paths, readRange: { income } };
  const changes = { provider: { ...provider, paths } };
  const product = await startProduct("local", changes, { delivery: { firstRetryMs: 200 } });
  const { system } = product;
  const idle = () => waitUntilIdle(system);
  const connected: string[] = [];
  const itemsOf: AccountStage["itemsOf"] = async (accountId, sortKey) => {
    const client = new DynamoDBClient(system.access);
    const pages = paginateQuery(
      { client },
      {
        TableName: outputOf(system.stack, "TableName"),
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :sk)",
        ExpressionAttributeValues: marshall({ ":pk": `ACCOUNT#${accountId}`, ":sk": sortKey }),
      },
    );
    const items: Record<string, unknown>[] = [];
    for await (const { Items = [] } of pages) items.push(...Items.map((item) => unmarshall(item)));
    client.destroy();
    return items;
  };
  return {
    ...product,
    waitUntilIdle: idle,
    itemsOf,
    documentsOf: async (accountId, name) =>
      (await itemsOf(accountId, `DOCUMENT#${name}`)).map((item) => contentIn(item)),
    connectedAccount: async () => {
      if (connected.length === 0) {
        // Together, since each round of fetches takes seconds.
        connected.push(...(await system.sandbox.createUsers(12)).accounts);
        await idle();
      }
      return connected.pop() ?? "";
    },
    stateOf: async (accountId) =>
      (await readTable(system.access, outputOf(system.stack, "TableName"))).accounts.get(accountId),
    callsOf: (accountId, since = 0) =>
      system.sandbox
        .calls()
        .slice(since)
        .filter(({ path }) => path.includes(accountId))
        .map(({ method, path }) => `${method} ${path.split(accountId)[1]?.slice(1) ?? ""}`.trim()),
    callsSoFar: () => system.sandbox.calls().length,
  };
}

/** Event that announces data of an account. */
export function endpointEvent(accountId: string) {
  return {
    event: "update_endpoint",
    request_id: crypto.randomUUID(),
    account_id: accountId,
    endpoint: "profile",
    data_available: true,
  };
}
