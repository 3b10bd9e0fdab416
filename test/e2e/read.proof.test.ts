import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/product-assembly.ts";
import { storeIncome } from "../support/stored-content.ts";

describe("a read of a document", () => {
  const cleanup = new AsyncDisposableStack();
  let stack: LocalStack;
  beforeAll(async () => {
    const product = cleanup.use(await synthesizeProduct());
    const options = {
      assembly: product.directory,
      // Nobody calls the provider: documents are stored here as fetches store them.
      parameters: { ProviderBaseUrl: "http://127.0.0.1:9" },
      ...{ maximumProcesses: 1, countsCapacity: true, engine: await fastEngine() },
    };
    stack = cleanup.adopt(await startStack(options), ({ close }) => close());
  });
  afterAll(() => cleanup.disposeAsync());

  const store = (parts: readonly Uint8Array[]) =>
    storeIncome(stack, { kind: "account", id: randomUUID() }, parts);

  async function read(url: URL, coding: string): Promise<Response> {
    const credentials = registerSubscribers(stack).find(({ name }) => name === "everything")?.credentials;
    if (credentials === undefined) throw new Error("the stage has no subscriber everything");
    const headers = { "accept-encoding": coding };
    const answer = await signedFetch(url, { region: stack.region, credentials, headers });
    expect(answer.status).toBe(200);
    return answer;
  }

  function reading() {
    const found = stack.functions.find(({ logicalId }) => logicalId.startsWith("ReadDocuments"));
    if (found === undefined) throw new Error("the stage has no function that reads");
    return found;
  }

  /** Resources that the function has used so far. */
  function used() {
    const { name, counts } = reading();
    const own = <T>(values: ReadonlyMap<string, T>) =>
      [...values].flatMap(([key, value]) => (key.startsWith(`${name} `) ? [value] : []));
    const units = own(stack.gateway.capacity());
    return {
      invocations: counts().invocations,
      requests: own(stack.gateway.calls()).reduce((sum, count) => sum + count, 0),
      readUnits: units.reduce((sum, { readUnits }) => sum + readUnits, 0),
      writeUnits: units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    };
  }

  it("takes one invocation, one request, two read units at most and no write for 4 KB", async () => {
    const { url } = await store([Buffer.from(JSON.stringify({ data: "x".repeat(4_000) }))]);
    await (await read(url, "identity")).arrayBuffer();
    const before = used();
    for (let count = 0; count < 20; count += 1) await (await read(url, "identity")).arrayBuffer();
    const after = used();
    expect(after.invocations - before.invocations).toBe(20);
    expect(after.requests - before.requests).toBe(20);
    expect(after.readUnits - before.readUnits).toBeGreaterThanOrEqual(20);
    expect(after.readUnits - before.readUnits).toBeLessThanOrEqual(40);
    expect(after.writeUnits).toBe(before.writeUnits);
  });

  it.each(["identity", "gzip"])(
    "streams 200 MB whole within the function's 512 MB, as %s",
    async (coding) => {
      const { url, digest } = await store(rows(200_000_000));
      const hash = createHash("sha256");
      // HTTP clients decompress the codings that they know.
      for await (const chunk of (await read(url, coding)).body ?? []) hash.update(chunk);
      expect(hash.digest("hex")).toBe(digest);
      let held = await reading().measureMemory();
      // The last bytes arrive shortly before the process is idle.
      for (; held.length === 0; held = await reading().measureMemory()) await setImmediate();
      expect(reading().memoryMb).toBe(512);
      for (const { maxResidentBytes } of held) expect(maxResidentBytes).toBeLessThanOrEqual(512 * 2 ** 20);
    },
  );
});

/** A list of rows. A trap: the local S3 accepts objects up to 11 MiB, so it must compress well. */
function rows(bytes: number): readonly Uint8Array[] {
  const part = Buffer.from(
    Array.from({ length: 8_192 }, () => {
      const row = { id: randomBytes(1).toString("hex"), currency: "EUR", gross: 812.5, net: 731.25 };
      return `${JSON.stringify(row)},\n`;
    }).join(""),
  );
  const count = Math.floor((bytes - 4) / part.byteLength);
  return [Buffer.from("["), ...Array.from({ length: count }, () => part), Buffer.from("null]")];
}
