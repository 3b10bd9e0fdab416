import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { freePorts, run, type Source, start, startSource } from "../support/installed-app.ts";

const repository = join(import.meta.dirname, "../..");
const addresses = z.object({
  endpoints: z.object({ api: z.url() }),
  webhookHeaders: z.record(z.string(), z.string()),
});

describe("an app that is installed from the packages' files, in an empty folder elsewhere", () => {
  let folder: string;
  let app: string;
  let source: Source;
  beforeAll(async () => {
    source = await startSource("somebody's folder ");
    folder = source.folder;
    app = join(folder, "my-events");
    await run(source, folder, ["npx", "--yes", `file:${source.fileOf("cdk")}`, "init", "my-events"]);
    await run(source, app, ["npm", "install"]);
  });
  afterAll(() => source?.[Symbol.asyncDispose]());

  it("asks the registry for nothing that is not locked, nor for a package of ours", () => {
    expect(source.registry.unknown()).toEqual([]);
  });

  it("passes its types and its own tests, and is synthesized without a finding of cdk-nag", async () => {
    await run(source, app, ["npm", "run", "typecheck"]);
    expect(await run(source, app, ["npm", "test"])).toContain("fail 0");
    const said = await run(source, app, ["npm", "run", "synth"]);
    expect(said).not.toMatch(/error|warning/i);
    expect(globSync("cdk.out/*.template.json", { cwd: app })).toEqual([
      "cdk.out/income-events-prod.template.json",
    ]);
  });

  it("is synthesized without a network: neither the app nor CDK's program tries to connect", async () => {
    const asked = join(folder, "asked");
    const guard = pathToFileURL(join(repository, "test/support/refuse-network.ts")).href;
    // CDK's cache of network answers is elsewhere.
    const home = { CDK_HOME: join(folder, "home of CDK") };
    const env = { ...source.env, ...home, NODE_OPTIONS: `--import ${guard}`, NETWORK_ASKED: asked };
    const synth = ["node_modules/.bin/cdk", "synth", "--quiet", "-c", "stage=prod"];
    await run({ env }, app, synth);
    expect(existsSync(asked) ? readFileSync(asked, "utf8") : "").toBe("");
    // Checks the check: with notices, CDK calls AWS.
    await run({ env }, app, [...synth, "--no-validation", "--notices"]);
    expect(readFileSync(asked, "utf8")).toContain("cdk");
  });

  it("keeps running if dev cannot synthesize a change, and restarts with its stored state", async () => {
    const file = join(app, "addresses.json");
    const env = { ...source.env, INCOME_EVENTS_RUNNING: join(folder, "running") };
    await using running = start({ env }, app, [
      ...["npm", "run", "dev", "--", "--users", "1", "--json", file, ...freePorts],
    ]);
    await running.printed(/Ctrl-C ends it/);
    const { endpoints, webhookHeaders } = addresses.parse(JSON.parse(readFileSync(file, "utf8")));
    const stored = async () => {
      const id = await deliver(endpoints.api, webhookHeaders);
      await running.printed(new RegExp(`^billing \\| user\\.created user/${id}$`));
      return id;
    };
    const first = await stored();

    const program = join(app, "app.ts");
    const written = readFileSync(program, "utf8");
    writeFileSync(program, `${written}this does not compile\n`);
    await running.printed(/SyntaxError|Expected/);
    await stored();
    const settings = join(app, "stages/local.json");
    const before = readFileSync(settings, "utf8");
    writeFileSync(program, written);
    writeFileSync(settings, before.replace('"startEndpoints"', '"startEndpoint"'));
    await running.printed(/startEndpoint: no such setting; remove it, or correct it to one of: /);
    await stored();

    const count = running.count();
    writeFileSync(
      settings,
      before.replace('{ "name": "billing" }', '{ "name": "billing" }, { "name": "risk" }'),
    );
    await running.printed(/Starting again, with what is stored/, count);
    await running.printed(/Ctrl-C ends it/, count);
    await stored();
    const shown = ["npx", "--no", "--offline", "income-events", "records", "show", "user", first, "--json"];
    expect(await run({ env }, app, shown)).toContain(first);
    writeFileSync(settings, before);
  });

  it("is given events and documents by dev, and loses none while the construct is upgraded", async () => {
    const file = join(app, "addresses.json");
    await using running = start(source, app, [
      ...["npm", "run", "dev", "--", "--users", "2", "--json", file, ...freePorts],
    ]);
    await running.printed(/^billing \| user\.created/);
    await running.printed(/^billing \| (company-)?account\/\S+ \d{4}-\d{2}-\d{2} \d+\.\d{2} USD$/);

    const program = join(app, "subscriber.ts");
    writeFileSync(
      program,
      readFileSync(program, "utf8").replace("console.log(message.type", 'console.log("now", message.type'),
    );
    await running.printed(/^billing \| Restarting/);

    const { endpoints, webhookHeaders } = addresses.parse(JSON.parse(readFileSync(file, "utf8")));
    const sent: string[] = [];
    const upgraded = upgrade(source, folder, app);
    let isDone = false;
    const done = running.printed(/New code, without a break: .*(Users|Relay)/).then(() => {
      isDone = true;
    });
    while (!isDone) sent.push(await deliver(endpoints.api, webhookHeaders));
    await Promise.all([upgraded, done]);
    sent.push(await deliver(endpoints.api, webhookHeaders));
    for (const id of sent) await running.printed(new RegExp(`^billing \\| now user\\.created user/${id}$`));
  });
});

/** Installs a new version of the construct, whose functions have different code. */
async function upgrade(source: Source, folder: string, app: string): Promise<void> {
  const next = join(folder, "next");
  cpSync(join(folder, "cdk"), next, { recursive: true });
  const manifest = join(next, "package.json");
  writeFileSync(
    manifest,
    JSON.stringify({ ...JSON.parse(readFileSync(manifest, "utf8")), version: "0.1.1" }),
  );
  for (const name of globSync("dist/functions/*.mjs", { cwd: next })) {
    const code = join(next, name);
    writeFileSync(code, `${readFileSync(code, "utf8")}\n// of the next version\n`);
  }
  await run(source, folder, ["npm", "pack", next, "--pack-destination", folder]);
  await run(source, app, ["npm", "install", join(folder, "income-events-cdk-0.1.1.tgz")]);
}

/**
 * Resends until accepted, as the provider does.
 * @returns the new user's id
 */
async function deliver(api: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const id = crypto.randomUUID();
  const body = JSON.stringify({ action: "create_user", data: { id } });
  for (;;) {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
    const answer = await fetch(`${api}/webhooks/users`, init).catch(() => undefined);
    if (answer?.ok === true) return id;
  }
}
