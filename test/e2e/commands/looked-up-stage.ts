import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { identify } from "../../../domain/event/envelope.ts";
import { loadSettings } from "../../../lib/settings/settings.ts";
import { readItems } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { startOperatedStage } from "../../support/operated-stage.ts";

const item = z.looseObject({ pk: z.string(), sk: z.string() });
const eventItem = z.looseObject({
  pk: z.string(),
  event: z.looseObject({ id: z.string(), type: z.string(), receivedAt: z.string() }),
  receipts: z.object({ count: z.number() }),
  body: z.unknown(),
});

const subscribers = [
  { name: "everything" },
  { name: "accounts", types: ["account.*"] },
  { name: "local", types: ["user.*"] },
  { name: "inline", types: ["data.*"], documents: "inline" },
];

export type LookedUpStage = Awaited<ReturnType<typeof startLookedUpStage>>;

/**
 * A running stage with two users that have an account each, one of them also a company account; everything is
 * fetched, profiles by range.
 */
export async function startLookedUpStage() {
  const { provider } = loadSettings("local", join(import.meta.dirname, "../../../stages"));
  const profile = "/api/v0.4/accounts/{account_id}/profile?date_start={date_start}&date_end={date_end}";
  const paths = { ...provider.paths, readRange: { profile } };
  const operated = await startOperatedStage(
    "looking-up",
    { subscribers, functions: {}, provider: { ...provider, paths } },
    { delivery: { firstRetryMs: 200 } },
  );
  const { system } = operated;
  const { users, accounts, companyAccounts } = await system.sandbox.createUsers(2, { companyAccounts: 1 });
  const [[user = "", other = ""], [account = ""], [company = ""]] = [users, accounts, companyAccounts];
  /**
   * Fires an event that names no user: it is stored with the account.
   * @returns its id
   */
  const announceEndpoint = (facts = {}, isId = (_: string) => true) => {
    for (;;) {
      const ids = { event: "update_endpoint", request_id: randomUUID(), account_id: account };
      const body = JSON.stringify({ ...ids, endpoint: "income", data_available: true, ...facts });
      const id = identify("endpoints", Buffer.from(body));
      if (!isId(id)) continue;
      system.sandbox.fireEvent("endpoints", body);
      return id;
    }
  };
  /** Refuses calls of callers whose name contains this, until the returned function is called. */
  const refuse = (refused: string, actions: readonly string[], errorType: string) => {
    const status = errorType === "ServiceUnavailable" ? 503 : 400;
    return system.stack.gateway.intercept(async ({ principal, action }, phase) =>
      phase === "before" && principal.includes(refused) && actions.includes(action)
        ? { status, errorType, message: "injected by the test" }
        : undefined,
    );
  };
  /** Items of the table, read with the SDK. */
  const items = async () =>
    (await readItems(system.access, operated.output("TableName"))).map((each) => item.parse(each));
  await waitUntilIdle(system);
  announceEndpoint();
  await waitUntilIdle(system);
  return {
    ...operated,
    ...{ user, account, company, other, announceEndpoint, refuse, items },
    storedEvents: async () =>
      (await items()).filter(({ sk }) => sk.startsWith("EVENT#")).map((each) => eventItem.parse(each)),
  };
}

/** Every nested value without members. */
export function leavesOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}
