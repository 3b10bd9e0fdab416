import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { synthesize } from "../../lib/app.ts";
import { productionSettings } from "./synthesized.ts";

describe("the app", () => {
  const directory = mkdtempSync(join(tmpdir(), "income-events-app-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  it("refuses a stage's name that no stack could have", async () => {
    const noBundles = async () => ({ codeOf: () => expect.unreachable(), [Symbol.dispose]: () => undefined });
    await expect(synthesize({ context: { stage: "Prod_1" } }, noBundles)).rejects.toThrow(
      'stage: is "Prod_1"; name it with -c stage=NAME',
    );
  });

  it("synthesizes production from a file elsewhere, each function with code and settings", async () => {
    const file = join(directory, "settings.json");
    writeFileSync(file, JSON.stringify(productionSettings));
    const props = { outdir: join(directory, "assembly"), builtinCloudFormationValidation: false };
    const assembly = await synthesize({ ...props, context: { stage: "prod", settings: file } });
    expect(assembly.stacks.map(({ stackName }) => stackName)).toEqual(["income-events-prod"]);
    const assets = readdirSync(assembly.directory).filter((name) => name.startsWith("asset."));
    expect(assets).toHaveLength(19);
    for (const asset of assets) {
      expect(readdirSync(join(assembly.directory, asset))).toEqual(
        expect.arrayContaining(["index.mjs", "settings.json"]),
      );
    }
    const settings = assets.map((asset) =>
      JSON.parse(readFileSync(join(assembly.directory, asset, "settings.json"), "utf8")),
    );
    expect(settings.filter(({ secretHeader }) => secretHeader === "x-webhook-secret")).toHaveLength(6);
  });
});
