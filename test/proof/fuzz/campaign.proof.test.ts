import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CampaignResult, fuzz } from "../../../proof/fuzz/run/campaign.ts";
import type { Target } from "../../../proof/fuzz/target.ts";
import { target as deep } from "./planted/deep.ts";
import { target as endless } from "./planted/endless.ts";
import { target as hoarding } from "./planted/hoarding.ts";
import { target as idsThatChange } from "./planted/ids-that-change.ts";
import { target as keeping } from "./planted/keeping.ts";
import { target as keysThatCollide } from "./planted/keys-that-collide.ts";
import { target as lookUpsThatMiss } from "./planted/look-ups-that-miss.ts";
import { target as losing } from "./planted/losing.ts";
import { target as neverSettling } from "./planted/never-settling.ts";
import { target as outputsThatLeadAway } from "./planted/outputs-that-lead-away.ts";

/** What is planted is found: else that nothing is found would say nothing. */
describe("a campaign", () => {
  let findings: string;
  beforeAll(() => {
    findings = mkdtempSync(join(tmpdir(), "fuzz-findings-"));
  });
  afterAll(() => rmSync(findings, { recursive: true, force: true }));

  /** A pause of the machine is no hang: only where one is looked for, an input has little time. */
  const run = (name: string, target: Target, inputs: number, secondsPerInput = 60): Promise<CampaignResult> =>
    fuzz(target, {
      name,
      file: join(import.meta.dirname, "planted", `${name}.ts`),
      inputs,
      seed: 1,
      secondsPerInput,
      mostResidentBytes: 1_073_741_824,
      mostGrowthBytes: 4_194_304,
      findings,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  const inputFound = (name: string) =>
    readdirSync(findings)
      .filter((file) => file.startsWith(`${name}-`))
      .map((file) => readFileSync(join(findings, file), "latin1"));

  it("is guided by what inputs reach: it finds four bytes that chance would not", async () => {
    const result = await run("deep", deep, 1_000_000);
    expect(result).toMatchObject({ found: "crash", said: expect.stringContaining("all four bytes") });
    expect(result.inputs).toBeLessThan(1_000_000);
    expect(inputFound("deep")).toEqual([expect.stringMatching(/^four/)]);
  });

  it.each([
    ["endless", endless],
    ["never-settling", neverSettling],
  ])("finds an input that hangs, and writes it down: %s", async (name, target) => {
    expect(await run(name, target, 10_000, 2)).toMatchObject({ found: "hang" });
    expect(inputFound(name)).toEqual([expect.stringMatching(/^.{5,}/s)]);
  });

  it("finds memory that grows", async () => {
    const result = await run("hoarding", hoarding, 5_000);
    expect(result).toMatchObject({ inputs: 5_000, found: "growth" });
    expect(result.growthBytes).toBeGreaterThan(10_000_000);
  });

  it("distinguishes a loss from a crash", async () => {
    expect(await run("losing", losing, 10_000)).toMatchObject({ found: "loss" });
  });

  it.each([
    ["keys-that-collide", keysThatCollide, "a part of a key holds what joins it"],
    ["ids-that-change", idsThatChange, "a canonical id has another one"],
    ["look-ups-that-miss", lookUpsThatMiss, "is not found"],
    ["outputs-that-lead-away", outputsThatLeadAway, "a queue is elsewhere"],
  ])("finds what is broken in a target of ours: %s", async (name, target, promise) => {
    const result = await run(name, target, 100_000);
    expect(result).toMatchObject({ found: "crash", said: expect.stringContaining(promise) });
  });

  it("gives as many inputs as were asked for, and finds nothing where nothing is wrong", async () => {
    expect(await run("keeping", keeping, 5_000)).toMatchObject({ inputs: 5_000, found: undefined });
  });
});
