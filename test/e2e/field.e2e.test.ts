import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerInputs, webhookInputs } from "../../proof/field/inputs.ts";
import { runField } from "../../proof/field/run.ts";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/running-product.ts";

const fixtures = join(import.meta.dirname, "../fixtures/field");

describe("inputs that were reported from the field", () => {
  it("are handled as expected on a running stack", async () => {
    const results = await runField({ synthesize: synthesizeProduct, engine: await fastEngine() });
    expect(results.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...webhookInputs, ...answerInputs].map(({ name }) => name)),
    );
    expect(results.filter(({ problems }) => problems.length > 0)).toEqual([]);
  });

  it("are all of the fixtures", () => {
    const used = [...webhookInputs.flatMap(({ sent }) => sent), ...answerInputs].map(({ file }) => file);
    const files = readdirSync(fixtures, { recursive: true, encoding: "utf8" });
    expect([...new Set(used)].sort()).toEqual(files.filter((name) => /\.(json|html|gz)$/.test(name)).sort());
  });
});
