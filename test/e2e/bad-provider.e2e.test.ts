import { randomUUID } from "node:crypto";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { startTestProvider, type TestProvider } from "@income-events/local-stack/provider.ts";
import {
  readDeadLetters,
  readTable,
  type TableSnapshot,
} from "@income-events/local-stack/scenario/snapshot.ts";
import type { System } from "@income-events/local-stack/system.ts";
import type { Fault } from "@income-events/sandbox/api/faults.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import local from "../../stages/local.json" with { type: "json" };
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { waitUntilIdle } from "../support/wait-until-idle.ts";

/** What goes wrong with one read each, and of which endpoint; income comes in two pages. */
const cases = {
  hang: { endpoint: "profile", fault: { effect: "hang" } },
  "slow body": { endpoint: "profile", fault: { effect: "slow-body" } },
  "50 MB": { endpoint: "profile", fault: { effect: "large-body" } },
  "malformed JSON": { endpoint: "profile", fault: { effect: "malformed-json" } },
  "redirect to the metadata of a machine": {
    endpoint: "profile",
    fault: { effect: "redirect", location: "http://169.254.169.254/latest/meta-data/" },
  },
  "redirect to another host": { endpoint: "profile", fault: { effect: "redirect" } },
  "400": { endpoint: "profile", fault: { status: 400 } },
  "404": { endpoint: "profile", fault: { status: 404 } },
  "410": { endpoint: "profile", fault: { status: 410 } },
  "503 in the middle of a list": { endpoint: "income", fault: { status: 503, share: 1 / 2 } },
  "400 in the middle of a list": { endpoint: "income", fault: { status: 400, share: 1 / 2 } },
} as const satisfies Record<string, { readonly endpoint: string; readonly fault: Fault }>;
type Case = keyof typeof cases;

/** A busy machine takes longer than the stage lets an answer take, and calls once more. */
const patient = {
  provider: { ...local.provider, timeouts: { connectSeconds: 2, headersSeconds: 2, bodySeconds: 3 } },
  functions: { ...local.functions, fetch: { timeoutSeconds: 12 } },
};

/** The functions as they are bundled, on real engines; the calls are those that the sandbox counted. */
describe("a read that the provider answers badly", () => {
  let product: RunningProduct;
  let system: System;
  let elsewhere: TestProvider;
  let table: TableSnapshot;
  const accounts = new Map<Case, string>();
  const before = new Map<Case, number>();
  const reasons = new Map<string, string>();

  const callsOf = (name: Case) =>
    system.sandbox
      .calls()
      .filter(({ path }) => path.endsWith(`/${accounts.get(name)}/${cases[name].endpoint}`));
  const statusesOf = (name: Case) =>
    callsOf(name)
      .slice(before.get(name))
      .map(({ status }) => status);
  const dataOf = (name: Case) => `${accounts.get(name)}/${cases[name].endpoint}`;
  /** The document of an endpoint's whole, beside which its ranges of dates have their own. */
  const storedWhole = async (name: Case) => {
    const client = new DynamoDBClient(system.access);
    const Key = marshall({ pk: `ACCOUNT#${accounts.get(name)}`, sk: `DOCUMENT#${cases[name].endpoint}` });
    const TableName = outputOf(system.stack, "TableName");
    const { Item } = await client.send(new GetItemCommand({ TableName, Key }));
    client.destroy();
    return Item && unmarshall(Item).document;
  };
  const reasonOf = (name: Case) => reasons.get(accounts.get(name) ?? "");
  const isWhole = (name: Case) => {
    const stored: unknown = JSON.parse(table.contents.get(dataOf(name)) ?? "null");
    const data = system.sandbox.data(accounts.get(name) ?? "", cases[name].endpoint);
    expect({ ...Object(stored), next: null }).toEqual({ ...Object(data), next: null });
  };

  beforeAll(async () => {
    [product, elsewhere] = await Promise.all([
      startProduct("local", patient, { delivery: { firstRetryMs: 200 }, pageSize: 6 }),
      startTestProvider(),
    ]);
    ({ system } = product);
    const { sandbox, stack, access } = system;
    const names = Object.keys(cases).filter((name): name is Case => name in cases);
    const made = await sandbox.createUsers(names.length);
    await waitUntilIdle(system);
    for (const [index, name] of names.entries()) {
      const account = made.accounts[index] ?? "";
      const { endpoint, fault } = cases[name];
      accounts.set(name, account);
      before.set(name, callsOf(name).length);
      const location = name === "redirect to another host" ? { location: `${elsewhere.url}/x` } : {};
      sandbox.fault({ ...fault, ...location, path: `/${account}/${endpoint}$`, times: 1 });
      sandbox.fireEvent("endpoints", {
        event: "update_endpoint",
        request_id: randomUUID(),
        account_id: account,
        user_id: made.users[index],
        endpoint,
        data_available: true,
      });
    }
    await waitUntilIdle(system);
    table = await readTable(access, outputOf(stack, "TableName"));
    const deadLetters = await readDeadLetters(
      access,
      outputOf(stack, "FetchDeadLetterQueueUrl"),
      outputOf(stack, "FetchQueueUrl"),
    );
    for (const { id, reason } of deadLetters) reasons.set(JSON.parse(id).subject.id, reason);
  });
  afterAll(async () => {
    await system.close();
    await elsewhere.close();
    await product?.[Symbol.asyncDispose]();
  });

  it.each<[Case, readonly number[]]>([
    ["hang", [0, 200]],
    ["slow body", [200, 200]],
    ["503 in the middle of a list", [200, 503, 200]],
    ["400 in the middle of a list", [200, 400, 200, 200]],
  ])("is done by itself, and calls no more often than that needs: %s", (name, statuses) => {
    expect(statusesOf(name)).toEqual(statuses);
    expect(reasonOf(name)).toBeUndefined();
    isWhole(name);
  });

  it.each<[Case, number, RegExp]>([
    ["50 MB", 200, /^the answer is over 20971520 bytes; see provider\.maxResponseBytes$/],
    ["malformed JSON", 200, /^the provider's answer is not JSON$/],
    [
      "redirect to the metadata of a machine",
      302,
      /answered 302 and leads to 169\.254\.169\.254: .* provider\.baseUrls$/,
    ],
    ["redirect to another host", 302, /answered 302 and leads to 127\.0\.0\.1: redirects are not followed/],
    ["400", 400, /^the provider answered 400$/],
  ])("is given up after one call, with the reason, and what was there stays: %s", (name, status, reason) => {
    expect(statusesOf(name)).toEqual([status]);
    expect(reasonOf(name)).toMatch(reason);
    isWhole(name);
  });

  it.each<[Case]>([["404"], ["410"]])("says that there is no data any more: %s", async (name) => {
    expect(statusesOf(name)).toEqual([Number(name)]);
    expect(reasonOf(name)).toBeUndefined();
    expect(table.data).toContain(dataOf(name));
    expect(await storedWhole(name)).toMatchObject({ asOf: expect.any(Number) });
    expect(await storedWhole(name)).not.toHaveProperty("digest");
    expect(await storedWhole(name)).not.toHaveProperty("content");
  });

  it("takes the token nowhere else, and loses nothing else", () => {
    expect(elsewhere.requests).toEqual([]);
    expect(reasons.size).toBe(5);
    expect(system.stack.problems().denials).toEqual([]);
  });
});
