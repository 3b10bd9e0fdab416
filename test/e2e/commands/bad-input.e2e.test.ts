import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createProgram } from "../../../packages/cli/program.ts";
import { readItems } from "../../../proof/scenario/snapshot.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { leavesOf } from "../../support/in-process.ts";
import { type OperatedStage, startOperatedStage } from "../../support/operated-stage.ts";
import { webhookSecretOf } from "../../support/webhooks.ts";
import { describeAudit } from "./audit.ts";

const name = z.object({
  endpoint: z.string(),
  dateStart: z.string().optional(),
  dateEnd: z.string().optional(),
});
const listed = z.object({ documents: z.tuple([name], z.unknown()) });

/** Every command: new ones are tested without being listed here. */
const leaves = leavesOf(await createProgram()).map(({ words, command }) => ({
  name: words.join(" "),
  command,
}));
const onSystem = leaves.filter(
  ({ name, command }) => name !== "local show" && command.options.some(({ long }) => long === "--local"),
);
const endless = ["events tail", "subscribers tail", "local forward"];

const tokenLike = `${btoa('{"alg":"none"}')}.${btoa("{}")}.x`;
const nobody = "00000000-0000-4000-8000-000000000000";
/** Commands that call AWS at most once, and the sandbox otherwise. */
const oneCall = [
  ...["logs", "trigger", "reconcile now", "webhooks register", "subscribers test", "dlq purge"],
  ...leaves.flatMap(({ name }) => (name.startsWith("sandbox ") ? [name] : [])),
];

/** Arguments with which each command works, for a known account. */
const argumentsOf = (
  account: string,
  document: string,
  target: string,
): Readonly<Record<string, string>> => ({
  "token set": "--any --force",
  "records show": `account ${account} --reveal`,
  "records find": "--attribute loanId=L-1",
  "documents get": `account ${account} ${document} --reveal`,
  "documents export": `--to ${tmpdir()}/nowhere`,
  "events show": `Yk3wq0Zt --account ${account}`,
  "events list": "--limit 3",
  "audit list": `--account ${account}`,
  replay: "--all-subscribers --yes",
  repair: "--all",
  trigger: `account.connected --account ${account}`,
  "sandbox fail": "503",
  "sandbox advance": "1s",
  "subscribers tail": "everything",
  "subscribers test": "everything",
  "local forward": `--to ${target}/refused --subscriber everything --yes`,
  "reconcile undelete": nobody,
  "fetch account": account,
  "fetch company-account": nobody,
  "dlq show": "users --reveal",
  "dlq redrive": "users",
  "dlq purge": "users --yes",
  "hold set": `account ${account} --reason case`,
  "hold clear": `account ${account} --reason case`,
  "erase status": nobody,
  "erase user": `${nobody} --yes`,
  "erase account": `${nobody} --yes`,
  "erase company-account": `${nobody} --yes`,
  "secret rotate": "--revoke-now --yes",
  restore: "income-events-restored --yes",
  "webhooks register": "--take-over --yes",
});

describe("bad input and faults, of every command", () => {
  let stage: OperatedStage;
  let logs: string;
  let user: string;
  let account: string;
  /** The arguments that name one of the account's documents. */
  let document: string;
  beforeAll(async () => {
    logs = await mkdtemp(join(tmpdir(), "bad-input-"));
    const changes = {
      subscribers: [{ name: "everything" }],
      retention: { auditDays: 400 },
      // Receivers refuse a rotated secret until they have read it.
      webhooks: { secretCacheSeconds: 1 },
    };
    stage = await startOperatedStage("bad-input", changes, { delivery: { firstRetryMs: 200 } }, { logs });
  });
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    await rm(logs, { recursive: true, force: true });
  });

  const run = (line: string) => stage.run(line.split(" "), { input: tokenLike });
  /** Number of items in the table, without the audit trail. */
  const countItems = async () => {
    const items = await readItems(stage.system.access, outputOf(stage.system.stack, "TableName"));
    return items.filter(({ pk }) => /^(USER|ACCOUNT|COMPANY)#/.test(String(pk))).length;
  };

  describe("an empty stage", () => {
    it.each([
      ["status", /none of \d+ is on/],
      ["events list", /^No events found\.$/m],
      ["dlq list", /^users +0 /m],
      ["dlq show users", /^No dead letters found\.$/m],
      ["dlq redrive users", /^Sent 0 dead letters/m],
      ["dlq purge users --yes", /^Deleted 0 dead letters/m],
      ["status --section subscribers", /^everything +everything +0 /m],
      ["audit list --act replay", /^No actions found\.$/m],
      ["status --section provider", /^answers +yes/m],
      ["reconcile now", /^Compared 0 users/m],
      ["repair --all", /0 events/],
      ["replay --subscriber everything", /up to 0 messages/],
    ])("is reported in words, with exit code 0: %s", async (line, words) => {
      expect(await run(line)).toMatchObject({ code: 0, stdout: expect.stringMatching(words) });
    });
  });

  describeAudit(() => stage);

  describe("a stage with a user and its account", () => {
    beforeAll(async () => {
      const { users, accounts } = await stage.system.sandbox.createUsers(1);
      [user = "", account = ""] = [users[0], accounts[0]];
      await waitUntilIdle(stage.system);
      const { stdout } = await run(`documents list --account ${account} --json`);
      const [{ endpoint, dateStart, dateEnd }] = listed.parse(JSON.parse(stdout)).documents;
      document = dateStart === undefined ? endpoint : `${endpoint} --dates ${dateStart}..${dateEnd}`;
    });

    /** `ID` marks the place of an id; the id of the other kind is the wrong one. */
    const asking = [
      ["records show user ID", "account"],
      ["records show account ID", "user"],
      ["records show company-account ID", "account"],
      ["documents get account ID income", "user"],
      ["documents list --user ID", "account"],
      ["events list --user ID", "account"],
      ["events list --account ID", "user"],
      ["replay --subscriber everything --user ID", "account"],
      ["replay --subscriber everything --account ID --dry-run", "user"],
      ["repair --user ID", "account"],
      ["repair --account ID --dry-run", "user"],
      ["fetch account ID", "user"],
      ["fetch company-account ID", "account"],
      ["erase user ID --yes", "account"],
      ["erase account ID --yes", "user"],
      ["erase company-account ID", "account"],
      ["dlq show users --id ID", "user"],
      ["dlq redrive users --id ID", "user"],
      ["dlq purge users --id ID --yes", "user"],
    ] as const;
    it.each(asking)(
      "exits with 4 for an id of another kind, as for an unknown one: %s",
      async (line, kind) => {
        const items = await countItems();
        const others = kind === "user" ? user : account;
        for (const id of /^(erase|dlq)/.test(line) ? [others] : [others, nobody]) {
          const result = await run(line.replace("ID", id));
          expect(result, id).toMatchObject({ code: 4, stdout: "" });
          expect(result.stderr).toContain(id);
        }
        expect(await countItems()).toBe(items);
      },
    );

    it.each([
      `logs ${nobody}`,
      `erase status ${nobody}`,
      "events show Yk3wq0Zt",
      "events show Yk3wq0Zt --user USER",
    ])("exits with 4 for an unknown id: %s", async (line) => {
      const result = await run(line.replace("USER", user));
      expect(result).toMatchObject({ code: 4, stdout: "" });
      expect(result.stderr).toMatch(/Yk3wq0Zt|00000000/);
    });

    it.each(asking.filter(([line]) => !/^(erase|dlq)/.test(line)))(
      "refuses the beginning of an id as such: %s",
      async (line) => {
        const id = line.includes("--user") || line.includes(" user ") ? user : account;
        const result = await run(line.replace("ID", id.slice(0, 8)));
        expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("whole id") });
      },
    );

    it.each([
      ["events list --type user.created --account ID", "is never about --account"],
      ["events list --type company-account.* --account ID", "is never about --account"],
      ["events list --kind users --type account.created", "never arrives as --kind users"],
      ["events list --since 2999-01-01", "is in the future"],
      ["replay --all-subscribers --since 1h --until 2h", "is not before --until"],
      ["repair --since 2999-01-01", "is in the future"],
      ["logs ID --since 2999-01-01", "is in the future"],
      ["audit list --since 2999-01-01", "is in the future"],
      ["dlq show users --id short", "give at least 8 characters"],
    ])("refuses a filter that nothing can match: %s", async (line, reason) => {
      const result = await run(line.replace("ID", account));
      expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(reason) });
    });

    it("shows what an erasure, a purge and a revocation would destroy, and destroys nothing without confirmation", async () => {
      const items = await countItems();
      expect(await run(`erase user ${user}`)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/to remove +count\n(.|\n)*states +2\n(.|\n)*Confirm it with --yes/),
      });
      expect(await countItems()).toBe(items);
      stage.system.sandbox.fireEvent("accounts", { event: "merge_account", account_id: account });
      await waitUntilIdle(stage.system);
      const purge = await run("dlq purge accounts");
      expect(purge).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("merge_account") });
      expect((await run("dlq list")).stdout).toMatch(/^accounts +1 /m);
      const secret = webhookSecretOf(stage.system.stack);
      const revocation = await run("secret rotate --revoke-now");
      expect(revocation).toMatchObject({ code: 2, stderr: expect.stringContaining("reconciliation finds") });
      expect(webhookSecretOf(stage.system.stack)).toBe(secret);
    });

    it.each(["audit list", "events list"])(
      "prints the same content on a terminal of 40 columns: %s",
      async (line) => {
        const words = ({ stdout }: { stdout: string }) => stripVTControlCharacters(stdout).split(/\s+/);
        const [wide, narrow] = [await run(line), await onTerminal(40, () => run(line))];
        expect(words(narrow)).toEqual(words(wide));
      },
    );

    it("uses color in a terminal unless NO_COLOR is set", async () => {
      const isColoured = ({ stdout }: { stdout: string }) => stdout !== stripVTControlCharacters(stdout);
      const shown = (env: Readonly<Record<string, string>>) =>
        onTerminal(100, () => stage.run(["status"], { env: { TERM: "xterm-256color", ...env } }));
      expect(isColoured(await shown({}))).toBe(true);
      expect(isColoured(await shown({ NO_COLOR: "1" }))).toBe(false);
      expect(isColoured(await run("status"))).toBe(false);
    });

    it.each(leaves.map(({ name }) => name))(
      "has its whole help on a terminal of 40 columns: %s",
      async (name) => {
        const { code, stdout } = await onTerminal(40, () => stage.run([...name.split(" "), "--help"]));
        expect(code).toBe(0);
        for (const option of leaves.find((leaf) => leaf.name === name)?.command.options ?? [])
          expect(stdout).toContain(option.long);
      },
    );

    // Commands that follow without end come last: they may still read after they were ended.
    it.each([...onSystem.map(({ name }) => name).filter((name) => !endless.includes(name)), ...endless])(
      "reports expired credentials, even during the command: %s",
      async (name) => {
        let calls = 0;
        const stop = stage.system.stack.gateway.intercept(async ({ principal, service }, phase) => {
          if (principal !== "operator" || phase !== "before") return undefined;
          calls += 1;
          // Endless commands read on for a while.
          if (calls <= (endless.includes(name) ? 3 : 1)) return undefined;
          const errorType = ["s3", "sqs", "sts"].includes(service) ? "ExpiredToken" : "ExpiredTokenException";
          return { status: 403, errorType, message: "The security token included in the request is expired" };
        });
        const given = argumentsOf(account, document, stage.system.sandbox.baseUrl)[name];
        const result = await run(given === undefined ? name : `${name} ${given}`).finally(stop);
        if (oneCall.includes(name)) return expect([0, 3, 4]).toContain(result.code);
        expect(result.stderr).toContain("The AWS credentials have expired.");
        expect(result.code).toBe(3);
      },
    );
  });
});

async function onTerminal<T>(columns: number, work: () => Promise<T>): Promise<T> {
  const { isTTY, columns: before, getColorDepth } = process.stdout;
  const depth = WriteStream.prototype.getColorDepth;
  Object.assign(process.stdout, { isTTY: true, columns, getColorDepth: depth });
  try {
    return await work();
  } finally {
    Object.assign(process.stdout, { isTTY, columns: before, getColorDepth });
  }
}
