import { afterEach, expect, it, vi } from "vitest";

const { rawJSON } = JSON;
afterEach(() => {
  JSON.rawJSON = rawJSON;
  vi.resetModules();
});

it("says at import that the runtime can't keep the digits of numbers", async () => {
  Reflect.deleteProperty(JSON, "rawJSON");
  await expect(import("../../../domain/event/lossless-json.ts")).rejects.toThrow(
    /lacks JSON\.rawJSON .* run it on Node 22 or later/,
  );
});

it("does not take a failure of the reader for a body that is no JSON", async () => {
  const { inspectPayload } = await import("../../../domain/event/payload.ts");
  const body = Buffer.from('{"link":"https://example.com","amount":1.10}');
  expect(inspectPayload("users", body)).toMatchObject({ ok: true });
  Reflect.deleteProperty(JSON, "rawJSON");
  expect(() => inspectPayload("users", body)).toThrow(TypeError);
});
