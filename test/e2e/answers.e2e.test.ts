import { join } from "node:path";
import { signedFetch } from "@income-events/local-stack/api/signed-fetch.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { loadSettings } from "../../lib/settings/settings.ts";
import { eventually, waitUntilIdle } from "../support/eventually.ts";
import { readMessages } from "../support/queues/subscriber-messages.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { endpointEvent } from "./account-stage.ts";

describe("an answer of the provider", () => {
  const { provider } = loadSettings("local", join(import.meta.dirname, "../../stages"));
  let product: RunningProduct;
  let accountId: string;
  beforeAll(async () => {
    const changes = { provider: { ...provider, breaker: { ...provider.breaker, failures: 2 } } };
    product = await startProduct("local", changes, { delivery: { firstRetryMs: 200 } });
    const { accounts } = await product.system.sandbox.createUsers(1);
    [accountId = ""] = accounts;
    await waitUntilIdle(product.system);
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  /** Changes the profile's note and announces it. */
  function announce(note: string): void {
    const { sandbox } = product.system;
    sandbox.shape("data-answer", { note, data: "{{data}}" });
    sandbox.fireEvent("endpoints", endpointEvent(accountId));
  }
  const calls = (status: number) =>
    product.system.sandbox
      .calls()
      .filter((call) => call.path.endsWith(`${accountId}/profile`) && call.status === status).length;
  const logged = (code: string) =>
    product.system.stack.functions.flatMap(({ log }) => log()).filter((line) => line.includes(`"${code}"`));

  function reader() {
    const found = product.system.subscribers.find(({ name }) => name === "everything");
    if (found === undefined) throw new Error("the stage has no subscriber everything");
    return found;
  }

  /** The profile as a subscriber reads it. */
  async function served() {
    const { stack } = product.system;
    const { credentials } = reader();
    const subject = { kind: "account", id: accountId } as const;
    const url = new URL(hrefOfDocument(subject, { endpoint: "profile" }, outputOf(stack, "DocumentsUrl")));
    const answer = await signedFetch(url, { region: stack.region, credentials });
    expect(answer.status).toBe(200);
    return { type: answer.headers.get("content-type"), bytes: Buffer.from(await answer.arrayBuffer()) };
  }
  const fault = { path: "/profile$" };

  it("of 202 keeps the stored document, and is retried until there is data", async () => {
    const { sandbox } = product.system;
    const before = await served();
    sandbox.fault({ ...fault, status: 202, times: 3, retryAfterSeconds: 0.5 });
    announce("ready");
    await eventually(() => expect(calls(202)).toBeGreaterThan(0));
    expect(await served()).toEqual(before);
    await waitUntilIdle(product.system);
    expect(calls(202)).toBe(3);
    expect(String((await served()).bytes)).toContain('"note":"ready"');
    expect(logged("PROVIDER_DOWN")).toEqual([]);
  });

  it("that is an HTML page with status 200 is retried, and counts for the breaker", async () => {
    const before = await served();
    product.system.sandbox.fault({ ...fault, effect: "maintenance", times: 3 });
    announce("back");
    await eventually(() => expect(logged("PROVIDER_DOWN")).toHaveLength(1));
    expect(await served()).toEqual(before);
    await waitUntilIdle(product.system);
    expect(String((await served()).bytes)).toContain('"note":"back"');
    expect(logged("PROVIDER_BACK")).toHaveLength(1);
    expect(logged("MESSAGE_REJECTED")).toEqual([]);
  });

  it("in ISO-8859-1 reaches the reader byte for byte with its content type", async () => {
    const { sandbox, access } = product.system;
    const { queueUrl } = reader();
    await readMessages(access, queueUrl);
    sandbox.fault({ ...fault, effect: "iso-8859-1" });
    announce("José Muñoz");
    await waitUntilIdle(product.system);

    const type = "application/json; charset=ISO-8859-1";
    const { bytes, ...answer } = await served();
    expect(answer).toEqual({ type });
    expect(bytes.toString("latin1")).toContain('"note":"José Muñoz"');
    expect(bytes.includes(Buffer.from("Jos\xe9 Mu\xf1oz", "latin1"))).toBe(true);
    const updates = (await readMessages(access, queueUrl)).filter((each) => each.type === "data.updated");
    expect(updates).toMatchObject([{ data: { document: { contentType: type, size: bytes.byteLength } } }]);
  });
});
