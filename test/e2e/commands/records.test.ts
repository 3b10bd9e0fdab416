import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contentIn } from "../../support/stored-content.ts";
import { type LookedUpStage, leavesOf, startLookedUpStage } from "./looked-up-stage.ts";

const record = z.object({
  subject: z.string(),
  state: z.unknown(),
  accounts: z.array(z.unknown()),
  documents: z.array(z.looseObject({ endpoint: z.string() })),
  data: z.array(z.looseObject({ endpoint: z.string(), data: z.unknown() })).optional(),
});
const storedDocument = z.object({
  document: z.object({
    endpoint: z.string(),
    range: z.object({ start: z.string(), end: z.string() }).optional(),
    asOf: z.number(),
    announced: z.number(),
    digest: z.string(),
    size: z.number(),
  }),
});

describe("records show", () => {
  let stage: LookedUpStage;
  let user: string;
  let account: string;
  let company: string;
  beforeAll(async () => {
    stage = await startLookedUpStage();
    ({ user, account, company } = stage);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const show = async (kind: string, id: string, ...flags: string[]) => {
    const result = await stage.run(["records", "show", kind, id, "--json", ...flags]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    return { ...record.parse(result.json()), stdout: result.stdout };
  };
  const itemsOf = async (pk: string, begins: string) =>
    (await stage.items()).filter((each) => each.pk === pk && each.sk.startsWith(begins));

  it("shows an account's state and documents as they stand in the table", async () => {
    const [stateItem] = await itemsOf(`ACCOUNT#${account}`, "STATE");
    const { state, documents, data } = await show("account", account);
    expect(stateItem?.state).toMatchObject(withoutLatest(state));
    expect(state).toMatchObject({ userId: user, connected: true });
    expect(data).toBeUndefined();
    const items = await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#");
    expect(items.length).toBeGreaterThan(3);
    const stored = items.map((item) => storedDocument.parse(item).document);
    expect(documents).toEqual(
      stored.map(({ endpoint, range, asOf, announced, digest, size }) => ({
        endpoint,
        ...(range && { range }),
        asOf: new Date(asOf).toISOString(),
        changedAt: new Date(announced).toISOString(),
        sha256: digest,
        bytes: size,
      })),
    );
  });

  it("shows a user with its accounts, and a company account", async () => {
    const { state, accounts } = await show("user", user);
    expect(state).toMatchObject({ version: expect.any(Number), deleted: false });
    expect(accounts).toEqual([{ id: account, state: expect.objectContaining({ connected: true }) }]);
    expect((await show("company-account", company)).subject).toBe(`company-account/${company}`);
  });

  it("masks data: names and types stay, values don't, until they are revealed", async () => {
    const truth = (await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#profile")).map(contentIn);
    expect(truth.length).toBeGreaterThan(0);
    const masked = await show("account", account, "--data", "profile");
    const values = leavesOf(truth).filter((leaf) => leaf !== null && leaf !== account && leaf !== user);
    expect(values.length).toBeGreaterThan(2);
    for (const leaf of leavesOf(masked.data?.map(({ data }) => data))) expect(values).not.toContain(leaf);
    expect(namesOf(masked.data?.map(({ data }) => data))).toEqual(namesOf(truth));

    const revealed = await show("account", account, "--data", "profile", "--reveal");
    expect(revealed.data?.map(({ data }) => data)).toEqual(truth);
    const all = await show("account", account, "--reveal");
    expect(new Set(all.data?.map(({ endpoint }) => endpoint))).toEqual(
      new Set(all.documents.map(({ endpoint }) => endpoint)),
    );
  });

  it("prints tables for people", async () => {
    const { stdout } = await stage.run(["records", "show", "account", account, "--data", "profile"]);
    expect(stdout).toMatch(new RegExp(`^account/${account}\nversion \\d+, connected, user ${user}`));
    expect(stdout).toMatch(/\nENDPOINT +DATES +AS OF +CHANGED +BYTES +SHA-256\n/);
    expect(stdout).toContain('"(text)"');
  });

  it.each([
    [["account", "nobody"], "nothing is known of account/nobody", 4],
    [["person", "x"], "<kind>", 2],
    [["user", ""], "<id> is empty", 2],
  ])("refuses %s", async (args, reason, code) => {
    const result = await stage.run(["records", "show", ...args]);
    expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(reason) });
  });

  it("refuses an endpoint that is not there, naming those that are", async () => {
    const result = await stage.run(["records", "show", "account", account, "--data", "incme"]);
    expect(result).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--data incme: .*it has: .*income/),
    });
  });
});

function namesOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)]);
}

function withoutLatest(state: unknown): object {
  const { latest: _, ...rest } = z.looseObject({ latest: z.unknown() }).parse(state);
  return rest;
}
