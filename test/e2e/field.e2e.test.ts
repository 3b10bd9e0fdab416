import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/running-product.ts";
import type { ScriptedStack } from "../support/scripted-stack.ts";
import { answerInputs, webhookInputs } from "./field/inputs.ts";
import { readAround, sendWebhooks, startField } from "./field/run.ts";

const fixtures = join(import.meta.dirname, "../fixtures/field");

describe("inputs that were reported from the field", () => {
  let system: ScriptedStack;
  let outcome: Awaited<ReturnType<typeof sendWebhooks>>;
  beforeAll(async () => {
    system = await startField({ synthesize: synthesizeProduct, engine: await fastEngine() });
    outcome = await sendWebhooks(system);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it("are accepted, and none is a dead letter", () => {
    expect(outcome).toMatchObject({ refused: [], deadLetters: [] });
  });

  it.each(webhookInputs)(
    "are understood: $name",
    ({ events, times = {}, ignoredTimes = {}, ignoredNames = [] }) => {
      for (const [subject, types] of Object.entries(events)) {
        const found = outcome.bySubject.get(subject) ?? [];
        expect(found.map(({ type }) => type).sort(), subject).toEqual([...types].sort());
        const announced = found.map(({ time }) => time);
        if (times[subject] !== undefined) expect(announced).toContain(times[subject]);
        expect(announced).not.toContain(ignoredTimes[subject]);
      }
      for (const name of ignoredNames) expect(outcome.ignored.get(name), name).toBe(1);
    },
  );

  it.each(answerInputs)("are data or keep the document: $name", async (input) => {
    const { before, after, expected } = await readAround(input, system);
    expect(before).toHaveLength(1);
    expect(after).toEqual([expected]);
  });

  it("are all of the fixtures", () => {
    const used = [...webhookInputs.flatMap(({ sent }) => sent), ...answerInputs].map(({ file }) => file);
    const files = readdirSync(fixtures, { recursive: true, encoding: "utf8" });
    expect([...new Set(used)].sort()).toEqual(files.filter((name) => /\.(json|html|gz)$/.test(name)).sort());
  });
});
