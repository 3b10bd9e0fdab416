import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { problemsOf } from "@income-events/local-stack/problems.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { readAllDeadLetters, readItems } from "../../proof/scenario/snapshot.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import type { ProductAssembly } from "../support/product-assembly.ts";
import { duplicatesIn, readMessages } from "../support/queues/subscriber-messages.ts";
import { enableRelay } from "../support/relay-source.ts";
import { type RunningProduct, startProduct, synthesizeProduct } from "../support/running-product.ts";
import { sendFollowed } from "../support/webhooks.ts";

// A held consumer must not time out.
const settings = { startEndpoints: ["profile"], functions: { store: { timeoutSeconds: 120 } } };
/** Reads another field as source, the time, which was not read before, and another event name. */
const newMapping = {
  accounts: {
    types: { ...defaultMapping.accounts.types, account_linked: "account.connected" },
    datasourceId: "source",
    time: "occurred_at",
  },
};
const occurredAt = "2026-03-01T12:00:00.000Z";
const storedEvent = z.looseObject({
  sk: z.string().startsWith("EVENT#"),
  event: z.looseObject({
    id: z.string(),
    type: z.string(),
    datasourceId: z.string().optional(),
    time: z.string().optional(),
  }),
  receipts: z.object({ count: z.number() }),
});

describe("a new mapping that is deployed with messages in flight", () => {
  let product: RunningProduct;
  let changed: ProductAssembly;
  beforeAll(async () => {
    [product, changed] = await Promise.all([
      // A held write occupies a process.
      startProduct("local", settings, { delivery: { firstRetryMs: 200 } }, { maximumProcesses: 2 }),
      synthesizeProduct("local", { ...settings, mapping: newMapping }),
    ]);
  });
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
    await changed[Symbol.asyncDispose]();
  });

  const sendWebhook = (userId: string, accountId: string, event = "connect_account") =>
    sendFollowed(product.system, "accounts", {
      event,
      account_id: accountId,
      user_id: userId,
      connected: true,
      datasource_id: "before",
      source: "after",
      occurred_at: occurredAt,
    });

  /** Replaces each function's code and settings by the other assembly's, as an update does. */
  function deploy({ directory }: ProductAssembly): void {
    const { stack } = product.system;
    for (const plan of stack.functionsOf(directory)) {
      stack.functions.find(({ name }) => name === plan.name)?.serve([plan]);
    }
  }

  /** Holds the first write of these accounts' events until released. */
  function holdFirstWrites(...accountIds: readonly string[]) {
    const gates = new Map(accountIds.map((id) => [id, Promise.withResolvers<void>()]));
    const held: string[] = [];
    const written: string[] = [];
    product.system.stack.gateway.intercept(async ({ principal, action, body }, phase) => {
      const isStore = principal.includes("AccountsStore") && action === "dynamodb:BatchExecuteStatement";
      const ids = isStore ? accountIds.filter((id) => body.includes(id)) : [];
      if (phase === "after") {
        written.push(...ids);
        return undefined;
      }
      const first = ids.filter((id) => !held.includes(id));
      held.push(...first);
      await Promise.all(first.map((id) => gates.get(id)?.promise));
      return undefined;
    });
    return {
      isHeld: (accountId: string) => eventually(() => expect(held).toContain(accountId)),
      isWritten: (accountId: string) => eventually(() => expect(written).toContain(accountId)),
      letGo: (accountId: string) => gates.get(accountId)?.resolve(),
    };
  }

  async function storedEvents() {
    const { stack, access } = product.system;
    const items = await readItems(access, outputOf(stack, "TableName"));
    const events = items.flatMap((item) => storedEvent.safeParse(item).data ?? []);
    return new Map(events.map((each) => [each.event.id, each]));
  }

  it("loses none: each event is stored and sent once, by one of the two mappings, with its own id", async () => {
    const { sandbox, stack, access } = product.system;
    // Known to the provider, but not announced by a webhook.
    const { users, accounts } = await sandbox.createUsers(1, { accountsPerUser: 5, drop: true });
    const [userId = ""] = users;
    const [inStream = "", overtaken = "", atWork = "", inQueue = "", newName = ""] = accounts;

    await enableRelay(stack, false);
    const ids = {
      inStream: await sendWebhook(userId, inStream),
      overtaken: "",
      atWork: "",
      inQueue: "",
      newName: "",
    };
    await eventually(async () => expect([...(await storedEvents()).keys()]).toContain(ids.inStream));
    // Both processes of the consumer are busy with the old mapping; later messages wait in the queue.
    const writes = holdFirstWrites(overtaken, atWork);
    ids.overtaken = await sendWebhook(userId, overtaken);
    await writes.isHeld(overtaken);
    ids.atWork = await sendWebhook(userId, atWork);
    await writes.isHeld(atWork);
    for (const again of [inStream, overtaken]) await sendWebhook(userId, again);
    ids.inQueue = await sendWebhook(userId, inQueue);
    ids.newName = await sendWebhook(userId, newName, "account_linked");

    deploy(changed);
    writes.letGo(atWork);
    await writes.isWritten(overtaken);
    writes.letGo(overtaken);
    await enableRelay(stack, true);
    await waitUntilIdle(product.system);

    const byOld = { datasourceId: "before", time: expect.not.stringMatching(occurredAt) };
    const byNew = { datasourceId: "after", time: occurredAt };
    const expected = [
      { id: ids.inStream, facts: byOld, receipts: 1 },
      { id: ids.overtaken, facts: byNew, receipts: 2 },
      { id: ids.atWork, facts: byOld, receipts: 1 },
      { id: ids.inQueue, facts: byNew, receipts: 1 },
      { id: ids.newName, facts: byNew, receipts: 1 },
    ];
    const events = await storedEvents();
    const queueUrl = subscribersOf(stack).find(({ name }) => name === "everything")?.queueUrl ?? "";
    const messages = await readMessages(access, queueUrl);
    const announced = messages.filter(({ type }) => type === "account.connected");
    expect(new Set(announced.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)));
    for (const { id, facts, receipts } of expected) {
      const { time, datasourceId } = facts;
      expect(events.get(id)).toMatchObject({
        receipts: { count: receipts },
        event: { type: "account.connected", datasourceId },
      });
      for (const message of announced.filter((each) => each.id === id)) {
        expect(message).toMatchObject({ time, data: { userId, datasourceId, connected: true } });
      }
    }
    expect(duplicatesIn(messages)).toEqual([]);
    expect(await readAllDeadLetters(access, stack)).toEqual([]);
    expect(problemsOf(stack)).toEqual([]);
  });
});
