import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProgram } from "../../packages/cli/program.ts";
import { pages, shownCommands } from "./shown-commands.ts";

const root = join(import.meta.dirname, "..", "..");
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

/** What a test runs for a command that pages show: the files hold these words. */
type RunBy = readonly [command: string, files: readonly string[], ...words: readonly string[]];

const commandsTests = "test/e2e/commands";
const looking = `${commandsTests}/looking-up.test.ts`;
const status = `${commandsTests}/status.test.ts`;
const deadLetters = [`${commandsTests}/dead-letters.test.ts`];
const firstEvent = "test/proof/first-event.proof.test.ts";
const restoring = ["proof/restore-drill/drill.ts", `${commandsTests}/restore-drill.test.ts`];

/** The first entry that a line begins with counts. */
const runByTests: readonly RunBy[] = [
  ["npx income-events dlq list", deadLetters, '"dlq"', '"list"'],
  ["npx income-events dlq show", deadLetters, '"dlq"', '"show"'],
  ["npx income-events dlq redrive", deadLetters, '"dlq"', '"redrive"'],
  ["npx income-events dlq purge", deadLetters, '"dlq"', '"purge"'],
  ["npx income-events doctor", [`${commandsTests}/doctor.test.ts`], '"doctor"'],
  ["npx income-events status", [status], '"status"'],
  ["npx income-events console", ["test/e2e/console/opened-console.ts"], '"console"'],
  ["npx income-events provider", [`${commandsTests}/audit.test.ts`], 'run("provider")'],
  ["npx income-events audit list", [`${commandsTests}/audit.test.ts`], "audit list"],
  ["npx income-events preflight", ["test/packages/cli/preflight/preflight.int.test.ts"], '"preflight"'],
  ["npx income-events key-policy", ["test/packages/cli/preflight/key-policy.int.test.ts"], '"key-policy"'],
  ["npx income-events subscribers list", [status], '"subscribers", "list"'],
  ["npx income-events subscribers tail", [status], '"subscribers", "tail"'],
  ["npx income-events token show", [status], '"token", "show"'],
  ["npx income-events token refresh", [status], '"token", "refresh"'],
  ["npx income-events sandbox fail", [`${commandsTests}/sandbox.test.ts`], '"sandbox", "fail"'],
  ["npx income-events trigger", [`${commandsTests}/sandbox.test.ts`], '"trigger"'],
  ["npx income-events token set", [`${commandsTests}/commands.test.ts`], '"token", "set"'],
  ["npx income-events webhooks list", [status], '"webhooks", "list"'],
  ["npx income-events webhooks register", [`${commandsTests}/commands.test.ts`], '"webhooks", "register"'],
  ["npx income-events secret rotate", [`${commandsTests}/rotation.test.ts`], '"secret", "rotate"'],
  ["npx income-events events list", [looking], '"events", "list"'],
  ["npx income-events events show", [looking], '"events", "show"'],
  ["npx income-events events tail", [looking], '"events", "tail"'],
  ["npx income-events records show", [`${commandsTests}/records.test.ts`], '"records", "show"'],
  ["npx income-events documents list", [`${commandsTests}/records.test.ts`], 'list("--'],
  ["npx income-events documents get", [`${commandsTests}/records.test.ts`], 'run("get"'],
  ["npx income-events documents export", [`${commandsTests}/records.test.ts`], 'run("export"'],
  ["npx income-events local forward", [`${commandsTests}/local-forward.test.ts`], '"local", "forward"'],
  ["npx income-events mapping learn", [`${commandsTests}/mapping.test.ts`], '"mapping", "learn"'],
  ["npx income-events mapping try", [`${commandsTests}/mapping.test.ts`], '"mapping", "try"'],
  ["npx income-events replay", [`${commandsTests}/replay.test.ts`], '"replay"'],
  ["npx income-events repair", [`${commandsTests}/repair.test.ts`, ...restoring], '"repair"'],
  ["npx income-events restore", restoring, '"restore"', "restoreDrill("],
  [
    "npx income-events erase apply-log",
    [...restoring, `${commandsTests}/erase.test.ts`],
    '"erase", "apply-log"',
  ],
  ["npx income-events hold set", [`${commandsTests}/erase.test.ts`], '"hold", "set"'],
  ["npx income-events hold clear", [`${commandsTests}/erase.test.ts`], '"hold", "clear"'],
  ["npx income-events hold list", [`${commandsTests}/erase.test.ts`], '"hold", "list"'],
  ["npx income-events erase status", [`${commandsTests}/erase.test.ts`], '"erase", "status"'],
  ["npx income-events erase user", [`${commandsTests}/erase.test.ts`], '"erase", "user"'],
  [
    "npx --no --offline income-events --help",
    ["test/scripts/package.proof.test.ts"],
    '"--offline", "income-events"',
  ],
  [
    "npx --yes file:$HOME/income-events/.local/packages/income-events-cdk-0.1.0.tgz init",
    [firstEvent],
    '"npx", "--yes"',
    '"init", "my-events"',
  ],
  ["npm run dev", [firstEvent], '"npm", "run", "dev"'],
  ["npm start -- --keep", ["test/e2e/keep.proof.test.ts"], "startProduct(", "keep"],
  ["npm start -- --once", ["test/e2e/once.proof.test.ts"], "packages/local-stack/start.ts", '"--once"'],
  ["npm start", ["test/e2e/stay-up.proof.test.ts"], "packages/local-stack/start.ts"],
  ["npm run smoke", [`${commandsTests}/smoke.test.ts`], '"smoke", "main.ts"'],
  ["npm run proof -- --list", ["test/proof/catalogue.proof.test.ts"], '"--list"'],
  ["npm run check -- lint types", ["test/scripts/check.proof.test.ts"], '"lint"', '"types"'],
  ["npm run proof -- sandbox-load", ["test/packages/sandbox/load.proof.test.ts"], "proof/sandbox-load"],
  [
    "npm run build",
    ["test/scripts/package.proof.test.ts", "test/scripts/pack.int.test.ts"],
    "scripts/pack.ts",
  ],
  ["npm run sandbox", ["test/packages/sandbox/main.proof.test.ts"], "packages/sandbox/main.ts"],
  ["npm run outage", ["test/e2e/outage.proof.test.ts"], "proof/outage"],
  ["npm run chaos", ["test/e2e/chaos.proof.test.ts"], "proof/chaos"],
  ["npm run bench", ["test/proof/bench/interruption.proof.test.ts"], "proof/bench/main.ts"],
  ["npm run proof -- alarms", ["test/e2e/alarms.proof.test.ts"], "proof/alarms"],
  ["npm run proof -- restore-drill", [`${commandsTests}/restore-drill.test.ts`], "proof/restore-drill"],
  ["npm run proof -- read", ["test/proof/read.proof.test.ts"], "proof/read"],
  ["npm run proof -- conformance", ["test/proof/conformance.test.ts"], "proof/conformance"],
  ["npm run proof -- console", ["test/proof/console.proof.test.ts"], "proof/console"],
  ["npm run proof -- cost", ["test/proof/records.proof.test.ts"], "proof/cost"],
  ["npm run docs -- --operating", ["test/scripts/operating.int.test.ts"], "scripts/operating"],
  ["npm run docs", ["test/docs/events.int.test.ts"], "writeDocuments("],
  ["node scripts/upgrades/main.ts", ["test/lib/baseline.int.test.ts"], "scripts/upgrades/main.ts"],
  ["npm run check -- baseline", ["test/lib/baseline.int.test.ts"], "resources that hold data"],
  ["npm run check", ["test/scripts/check.proof.test.ts"], "npm run check"],
  ["npm run synth", ["test/scripts/check.proof.test.ts"], '"synth"'],
];

/** Run by whoever runs the tests at all, or a matter of the clone. */
const ofTheClone = [
  /^npm ci$/,
  /^cd my-events$/,
  /^npm test$/,
  /^npm run test:(unit|proof)$/,
  /^LAWS_SEED=42 npm test$/,
  /^npx vitest run test\/domain$/,
  /^npm run format$/,
  /^git (checkout|fetch) /,
];

/** What only an account can show. Of the first three a test sees the first calls: test/e2e/aws-endpoint.proof.test.ts. */
const needsAws = [
  /^npx cdk (bootstrap|deploy|destroy|diff|rollback)\b/,
  /^aws [a-z0-9-]+ [a-z0-9-]+/,
  /^log=\$\(output \w+\)$/,
  /^npm run proof -- permissions(?: --write)?$/,
];

/** The helper with which guides read the outputs; it is run below. */
const outputHelper = /^output\(\) \{ .* \}$/;

const shown = shownCommands();
const leaves = (await createProgram()).commands.flatMap((group) =>
  group.commands.length === 0
    ? [{ words: group.name(), command: group }]
    : group.commands.map((command) => ({ words: `${group.name()} ${command.name()}`, command })),
);

describe("the commands that README, CONTRIBUTING, guide and operate pages show", () => {
  it.each(pages)("are found on %s", (page) => {
    expect(shown.filter((each) => each.page === page)).not.toEqual([]);
  });

  it.each([...new Set(shown.map(({ line }) => line))])("are run by a test, or need AWS: %s", (line) => {
    const entry = runByTests.find(([command]) => line === command || line.startsWith(`${command} `));
    if (entry === undefined) {
      const others = [...ofTheClone, ...needsAws, outputHelper, /^npx income-events$/];
      expect(
        others.some((pattern) => pattern.test(line)),
        "no test is named for it, and it is not marked as one for AWS",
      ).toBe(true);
      return;
    }
    const [, files, ...words] = entry;
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
    const text = files.map(textOf).join("\n");
    expect(
      words.filter((word) => !text.includes(word)),
      files.join(", "),
    ).toEqual([]);
  });

  it.each(shown.filter(({ line }) => /^npx income-events [a-z]/.test(line)))(
    "know their options: $page, $line",
    ({ line }) => {
      const rest = line.replace("npx income-events ", "");
      const found = leaves.find(({ words }) => rest === words || rest.startsWith(`${words} `));
      expect(found, "no such command").toBeDefined();
      const known = ["--help", ...(found?.command.options ?? []).map(({ long }) => long)];
      const named = [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option]) => option);
      expect(named.filter((option) => !known.includes(option ?? ""))).toEqual([]);
    },
  );

  it("are all in use: no test is named for a command that no page shows", () => {
    const unused = runByTests.filter(
      ([command]) => !shown.some(({ line }) => line === command || line.startsWith(`${command} `)),
    );
    expect(unused.map(([command]) => command)).toEqual([]);
  });

  it("read outputs with a helper that works", () => {
    const directory = mkdtempSync(join(tmpdir(), "outputs-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(
      join(directory, "outputs.json"),
      JSON.stringify({ "income-events-prod": { TableName: "events" } }),
    );
    const helper = shown.find(({ line }) => outputHelper.test(line))?.line ?? "";
    expect(
      execFileSync("bash", ["-c", `${helper}\noutput TableName`], { cwd: directory })
        .toString()
        .trim(),
    ).toBe("events");
  });
});
