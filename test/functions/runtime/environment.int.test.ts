import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const importedOn = (node: string) => {
  vi.resetModules();
  vi.stubGlobal("process", Object.create(process, { versions: { value: { node } } }));
  return import("../../../functions/runtime/environment.ts");
};

it("a runtime that lacks required features fails the import with a message", async () => {
  await expect(importedOn("20.20.2")).rejects.toThrow(
    "functions need Node 24 or later, and this is Node 20.20.2",
  );
  await expect(importedOn("26.0.0")).resolves.toHaveProperty("variable");
});
