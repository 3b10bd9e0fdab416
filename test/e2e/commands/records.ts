import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contentIn } from "../../support/stored-content.ts";
import { type LookedUpStage, leavesOf } from "./looked-up-stage.ts";

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

/** Records of users, accounts and their documents. */
export function describeRecords(use: () => LookedUpStage): void {
  let stage: LookedUpStage;
  let user: string;
  let account: string;
  let company: string;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "records-"));
    stage = use();
    ({ user, account, company } = stage);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const itemsOf = async (pk: string, begins: string) =>
    (await stage.items()).filter((each) => each.pk === pk && each.sk.startsWith(begins));

  describe("records show", () => {
    const show = async (kind: string, id: string, ...flags: string[]) => {
      const result = await stage.run(["records", "show", kind, id, "--json", ...flags]);
      expect(result).toMatchObject({ code: 0, stderr: "" });
      return { ...record.parse(result.json()), stdout: result.stdout };
    };

    it("shows an account's state and documents from the table", async () => {
      const [stateItem] = await itemsOf(`ACCOUNT#${account}`, "STATE");
      const { state, documents, data } = await show("account", account);
      expect(stateItem?.state).toMatchObject(withoutLatest(state));
      expect(state).toMatchObject({ userId: user, connected: true });
      expect(data).toBeUndefined();
      const items = await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#");
      expect(items).toHaveLength(3);
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
      [["person", "x"], "<kind>", 2],
      [["user", ""], "<id> is empty", 2],
    ])("refuses %s", async (args, reason, code) => {
      const result = await stage.run(["records", "show", ...args]);
      expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(reason) });
    });

    it("refuses an unknown endpoint, listing the known ones", async () => {
      const result = await stage.run(["records", "show", "account", account, "--data", "incme"]);
      expect(result).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--data incme: .*it has: .*income/),
      });
    });
  });

  // The sandbox's `loan_id` is the attribute `loanId` of the local stage.
  describe("attributes of users", () => {
    const show = async (...args: string[]) =>
      (await stage.run(["records", "show", ...args, "--json"])).json();

    it("records find finds a user by one, and events show masks it", async () => {
      const find = (attribute: string) => stage.run(["records", "find", "--attribute", attribute, "--json"]);
      expect((await find("loanId=L-1001")).json()).toMatchObject({ users: [{ id: user, deleted: false }] });
      expect((await find("loanId=nobody")).json()).toMatchObject({ users: [] });
      expect(await find("loanId")).toMatchObject({ code: 2, stdout: "" });
      const created =
        (await stage.storedEvents()).find(
          ({ event }) => event.type === "user.created" && event.userId === user,
        )?.event.id ?? "";
      const shown = await stage.run(["events", "show", created, "--user", user, "--json"]);
      expect(shown.stdout).not.toContain("L-1001");
      expect(shown.json()).toMatchObject({ event: { attributes: { loanId: "(text)" } } });
    });

    it("masks its user's attributes until they are revealed", async () => {
      for (const [kind, id] of [
        ["user", user],
        ["account", account],
        ["company-account", company],
      ] as const) {
        expect(await show(kind, id)).toMatchObject({ attributes: { loanId: "(text)" } });
        const revealed = await show(kind, id, "--reveal");
        expect(revealed).toMatchObject({ attributes: { loanId: "L-1001" } });
      }
      const { stdout } = await stage.run(["records", "show", "user", user]);
      expect(stdout).toContain("\nattributes: loanId=(text)\n");
    });
  });

  const listed = z.object({
    documents: z.array(
      z.looseObject({
        subject: z.string(),
        endpoint: z.string(),
        dateStart: z.string().optional(),
        dateEnd: z.string().optional(),
        version: z.string(),
        sha256: z.string(),
        href: z.string(),
      }),
    ),
  });
  const exported = z.object({ documents: z.number(), files: z.array(z.string()), isComplete: z.boolean() });

  describe("documents", () => {
    const run = async (...args: string[]) => {
      const result = await stage.run(["documents", ...args, "--json"]);
      expect(result, result.stderr).toMatchObject({ code: 0 });
      return result;
    };
    const list = async (...flags: string[]) => listed.parse((await run("list", ...flags)).json()).documents;
    const revealed = async () => (await stage.run(["audit", "list", "--act", "reveal"])).stdout;

    it("list shows those of an account, of a user's accounts, or all, without their content", async () => {
      const ofAccount = await list("--account", account);
      expect(ofAccount).toHaveLength((await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#")).length);
      expect(ofAccount.map(({ version }) => version)).toEqual(
        ofAccount.map(({ version }) => version).toSorted((one, two) => Number(two) - Number(one)),
      );
      for (const { subject, href, version } of ofAccount)
        expect([subject, href]).toEqual([
          `account/${account}`,
          expect.stringContaining(`?version=${version}`),
        ]);
      expect(await list("--user", user)).toEqual(ofAccount);
      const { stderr } = await run("list", "--endpoint", "income");
      expect(stderr).toMatch(/^This reads the whole table: about \d+ items, .* below US\$ 0.01/);
      const all = await list("--endpoint", "income");
      expect(new Set(all.map(({ endpoint }) => endpoint))).toEqual(new Set(["income"]));
      expect(new Set(all.map(({ subject }) => subject)).size).toBeGreaterThan(1);
      expect(await list("--since", "24h", "--limit", "2")).toHaveLength(2);
      expect(await list("--until", "24h")).toEqual([]);
      expect((await stage.run(["documents", "list", "--account", account])).stdout).toMatch(
        /^SUBJECT +ENDPOINT +DATES +CHANGED +VERSION +BYTES +SHA-256 +SUPERSEDED\n/,
      );
    });

    it("get masks a document, and reveals it or writes it byte for byte on request, which is recorded", async () => {
      const [item] = await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#profile#");
      const { range } = storedDocument.parse(item).document;
      const profile = ["account", account, "profile", "--dates", `${range?.start}..${range?.end}`];
      const before = (await revealed()).split("\n").length;
      const masked = await run("get", ...profile);
      const values = leavesOf(contentIn(item)).filter(
        (leaf) => leaf !== null && leaf !== account && leaf !== user,
      );
      for (const leaf of leavesOf(Object(masked.json()).data)) expect(values).not.toContain(leaf);
      expect((await revealed()).split("\n")).toHaveLength(before);

      const shown = await run("get", ...profile, "--reveal");
      expect(Object(shown.json()).data).toEqual(contentIn(item));
      const file = join(directory, "profile.json");
      const { document } = Object((await run("get", ...profile, "--to", file)).json());
      const bytes = await readFile(file);
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(document.sha256);
      const same = ["--of-version", document.version, "--as-of", new Date().toISOString()];
      for (const flags of [same.slice(0, 2), same.slice(2)])
        expect(Object((await run("get", ...profile, ...flags, "--reveal")).json()).data).toEqual(
          contentIn(item),
        );
      for (const [flags, reason] of [
        [["--as-of", "2020-01-01"], "This version of profile/"],
        [["--of-version", "newest"], '"newest" is not a version'],
        [["--of-version", "1", "--as-of", "1d"], "write one of them"],
        [["--to", file, "--changes"], "write one of them"],
        [["--to", file], "name a new file"],
      ] as const)
        expect(await stage.run(["documents", "get", ...profile, ...flags])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(reason),
        });
      const changes = await run("get", ...profile, "--of-version", document.version, "--changes");
      expect(Object(changes.json()).changes).toBeNull();
      expect(await readFile(file)).toEqual(bytes);
      expect(await revealed()).toMatch(/reveal +document of account +\S+ +1 +done/);
    });

    it("export writes each document of an endpoint as a line, states its price first, and is recorded", async () => {
      const to = join(directory, "income");
      const { stderr, json } = await run("export", "--endpoint", "income", "--since", "24h", "--to", to);
      expect(stderr).toMatch(
        /US\$ 0.40 per million(.|\n)*This reads the whole table(.|\n)*Wrote documents-00001/,
      );
      const { documents, files, isComplete } = exported.parse(json());
      const there = await list("--endpoint", "income");
      expect([documents, isComplete]).toEqual([there.length, true]);
      const texts = await Promise.all(files.map(async (name) => gunzipSync(await readFile(join(to, name)))));
      const rows = texts.flatMap((text) =>
        text
          .toString()
          .trimEnd()
          .split("\n")
          .map((row) => JSON.parse(row)),
      );
      expect(rows.map(({ sha256 }) => sha256).toSorted()).toEqual(
        there.map(({ sha256 }) => sha256).toSorted(),
      );
      const contents = (await itemsOf(`ACCOUNT#${account}`, "DOCUMENT#income")).map(contentIn);
      expect(rows.filter(({ id }) => id === account).map(({ document }) => document)).toEqual(
        expect.arrayContaining(contents),
      );
      expect(await revealed()).toMatch(new RegExp(`reveal +documents of income +- +${documents} +done`));
    });

    it.each([
      ["get person x income", "<kind>", 2],
      ["get account ACCOUNT incme", /has no document incme; it has: .*income/, 2],
      ["get account ACCOUNT income --dates today", '--dates "today"', 2],
      ["list --endpoint in/come", "is not the name of an endpoint", 2],
      ["list --limit 0", "--limit", 2],
      ["export --endpoint income", "--to is missing", 2],
      ["export --to DIRECTORY --since 2999-01-01", "is in the future", 2],
      ["export --to /proc/self/environ", "is not a readable directory", 2],
    ])("refuses %s", async (line, reason, code) => {
      const words = line.replace("ACCOUNT", account).replace("DIRECTORY", directory).split(" ");
      const result = await stage.run(["documents", ...words]);
      expect(result).toMatchObject({ code, stdout: "" });
      expect(result.stderr).toMatch(reason);
    });
  });
}

function namesOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)]);
}

function withoutLatest(state: unknown): object {
  const { latest: _, ...rest } = z.looseObject({ latest: z.unknown() }).parse(state);
  return rest;
}
