import { afterAll, expect, it, vi } from "vitest";

const { rawJSON } = JSON;
// Other files of this process have already imported the modules.
vi.resetModules();
Reflect.deleteProperty(JSON, "rawJSON");
const { inspectPayload } = await import("../../../domain/event/payload.ts");
afterAll(() => {
  JSON.rawJSON = rawJSON;
  vi.resetModules();
});

it("fails at import if the runtime cannot keep the digits of numbers", async () => {
  await expect(import("../../../domain/event/lossless-json.ts")).rejects.toThrow(
    /lacks JSON\.rawJSON .* run it on Node 22 or later/,
  );
});

it("is not needed to check a body and to drop its credentials", () => {
  const body = Buffer.from('{"link":"https://example.com","amount":1.10}');
  const payload = inspectPayload(body);
  expect(payload.ok && Buffer.from(payload.bytes).toString()).toBe('{"amount":1.10}');
});
