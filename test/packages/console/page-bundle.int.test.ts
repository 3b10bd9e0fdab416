import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundlePage } from "../../../packages/console/page-bundle.ts";

it("is one page of at most 150 KB of script compressed, which loads its own files alone", async () => {
  const files = await bundlePage();
  const script = String(new TextDecoder().decode(Buffer.from(files.get("/assets/page.js")?.content ?? "")));
  expect(script.length).toBeGreaterThan(10_000);
  expect(gzipSync(script).length).toBeLessThan(150_000);
  const html = String(files.get("/")?.content);
  for (const [, address = ""] of html.matchAll(/(?:src|href)="([^"]+)"/g))
    expect([...files.keys()]).toContain(address);
  expect(html).not.toMatch(/<script>|style=|<style/);
  expect(script).not.toMatch(/dangerouslySetInnerHTML=|\beval\(/);
});
