import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../domain/message/message-schemas.ts";
import { eventually } from "../support/eventually.ts";
import { readMessages } from "../support/queues/subscriber-messages.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";

const readiness = { endpoints: ["income", "employment", "vehicles"], minDays: 30 };

describe("a stage that waits for accounts", () => {
  let product: RunningProduct;
  const messages: (Message & { readonly readAt: number })[] = [];
  beforeAll(async () => {
    product = await startProduct("local", { readiness, startEndpoints: readiness.endpoints });
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  const received = async () => {
    const { stack, access } = product.system;
    const queueUrl = subscribersOf(stack).find(({ name }) => name === "everything")?.queueUrl ?? "";
    const readAt = Date.now();
    messages.push(...(await readMessages(access, queueUrl)).map((message) => ({ ...message, readAt })));
    return messages;
  };

  it("announces accounts that are ready within seconds of their last document, each once", async () => {
    const { accounts, users } = await product.system.sandbox.createUsers(3);
    const ready = await eventually(async () => {
      const found = (await received()).filter(({ type }) => type === "account.ready");
      expect(found.map(({ data }) => ("accountId" in data ? data.accountId : ""))).toEqual(
        expect.arrayContaining([...accounts]),
      );
      return found;
    });
    expect(ready).toHaveLength(accounts.length);
    for (const { subject, readAt } of ready) {
      const account = subject.replace("/readiness", "");
      const data = messages.filter(
        (each) => each.type === "data.updated" && each.subject.startsWith(account),
      );
      const last = Math.max(...data.map((each) => each.readAt));
      expect(readAt - last).toBeLessThan(5_000);
    }
    const toldUsers = await eventually(async () => {
      const found = (await received()).filter(({ type }) => type === "user.ready");
      expect(found).toHaveLength(users.length);
      return found;
    });
    expect(toldUsers.map(({ subject }) => subject).toSorted()).toEqual(
      users.map((id) => `user/${id}/readiness`).toSorted(),
    );
  });
});
