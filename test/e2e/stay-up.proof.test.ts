import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { readItems } from "../../proof/scenario/snapshot.ts";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { eventually } from "../support/eventually.ts";
import { runInProcess } from "../support/in-process.ts";
import type { ProductAssembly } from "../support/product-assembly.ts";
import { descendantsOf, isAlive, type Program, printedFor, runProgram } from "../support/program.ts";
import { readMessages } from "../support/queues/subscriber-messages.ts";
import { synthesizeProduct } from "../support/running-product.ts";

// Set explicitly, because the written file names no region.
const region = "us-east-1";
const credentials = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
const addresses = z.object({
  region: z.string(),
  endpoints: z.object({ dynamodb: z.url(), sqs: z.url(), api: z.url(), sandbox: z.url() }),
  credentials,
  webhookHeaders: z.record(z.string(), z.string()),
  table: z.string(),
  queues: z.record(z.string(), z.url()),
  documents: z.object({ url: z.url() }),
  subscribers: z.record(z.string(), z.object({ queueUrl: z.url(), credentials })),
});
/** The announcement of a system of the stage `local`, by its process. */
const announcementOf = (pid: number) =>
  join(process.env.INCOME_EVENTS_RUNNING ?? "", `income-events-local-${pid}.json`);
const freePorts = ["--ports", "auto"];

describe("npm start", () => {
  let product: ProductAssembly;
  let directory = "";
  beforeAll(async () => {
    product = await synthesizeProduct();
    directory = await mkdtemp(join(tmpdir(), "stay-up-"));
  });
  afterAll(async () => {
    await product?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const start = (...args: string[]) =>
    runProgram("packages/local-stack/start.ts", [
      ...["--assembly", product.directory, "--users", "1", "--logs", join(directory, "logs")],
      ...args,
    ]);

  const readAddresses = async (program: Program, file: string) => {
    await program.printed("Ctrl-C ends it.");
    return addresses.parse(JSON.parse(await readFile(file, "utf8")));
  };

  it("takes a webhook at the address it wrote, stores it once, and puts it on the subscriber's queue", async () => {
    const file = join(directory, "addresses.json");
    await writeFile(file, "of an earlier start", { mode: 0o644 });
    await using program = start("--json", file, ...freePorts);
    const written = await readAddresses(program, file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { endpoints, credentials, webhookHeaders, table, queues } = written;
    const userId = "6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60";
    const body = JSON.stringify({ action: "create_user", data: { id: userId } });
    const post = async (path: string, init: RequestInit) =>
      (await fetch(`${endpoints.api}${path}`, init)).status;
    const headers = { "content-type": "application/json", ...webhookHeaders };

    expect(await post("/webhooks/users", { method: "POST", headers, body })).toBe(202);
    expect(await post("/webhooks/users", { method: "PUT", headers, body })).toBe(202);
    expect(await post("/webhooks/users", { method: "POST", body })).toBe(401);
    expect(await post("/webhooks/users", { method: "DELETE", headers })).toBe(405);
    // One value for all kinds, which differs from the service's.
    for (const kind of ["accounts", "endpoints", "company-accounts"])
      expect(await post(`/webhooks/${kind}`, { method: "POST", headers, body: "{}" })).toBe(202);
    expect(await post("/webhooks/cars", { method: "POST", headers, body })).toBe(404);
    const huge = "x".repeat(7 * 1024 * 1024);
    expect(await post("/webhooks/users", { method: "POST", headers, body: huge })).toBe(413);

    const access = { endpoint: endpoints.sqs, region, credentials };
    const isAboutUser = ({ subject }: { subject: string }) => subject === `user/${userId}`;
    const received = await eventually(async () => {
      const found = (await readMessages(access, queues["subscriber-everything"] ?? "")).find(isAboutUser);
      return found ?? expect.unreachable("no message yet");
    });
    expect(received).toMatchObject({ type: "user.created", sequence: "00000000000000000001" });
    await refusesOthers(written, `v1/users/${userId}`);
    const stored = await readItems({ ...access, endpoint: endpoints.dynamodb }, table);
    const events = stored.filter(({ pk, sk }) => pk === `USER#${userId}` && /^EVENT#/.test(String(sk)));
    expect(events).toHaveLength(1);
    await eventually(async () => {
      const { stdout } = await runInProcess(["logs", received.id, "--stage", "local", "--json"]);
      const { entries }: { entries: readonly { function: string }[] } = JSON.parse(stdout);
      const functions = entries.map((entry) => entry.function);
      expect(new Set(functions)).toEqual(new Set(["receive/users", "store/users", "relay/changes"]));
    });
  });

  it("says at a glance where to begin, and in local show what to run", async () => {
    await using program = start(...freePorts);
    await program.printed("Ctrl-C ends it.");
    const { stdout: details } = await runInProcess(["local", "show", "--stage", "local"]);
    expect(printedFor("everything", details).command).toBe("npx node examples/monthly-income/main.ts");
    expect(program.output()).toMatch(/^Sandbox {7}http:\/\/127\.0\.0\.1:\d+\/connect /m);
    expect(details).toMatch(/^Control {7}http:\/\/127\.0\.0\.1:\d+ /m);
    // The sample users keep earning, so there are always events.
    await using tail = runProgram("packages/cli/main.ts", ["events", "tail", "--stage", "local"]);
    await tail.printed("endpoint.updated");
    await tail[Symbol.asyncDispose]();
    const args = ["local", "forward", "--to", "http://127.0.0.1:1/"];
    await using forward = runProgram("packages/cli/main.ts", args);
    await forward.printed("Forwarding the messages of the subscriber everything of the stage local");
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends every process that it started on %s, and is found no more",
    async (signal) => {
      await using program = start(...freePorts);
      await program.printed("Ctrl-C ends it.");
      expect(existsSync(announcementOf(program.pid))).toBe(true);
      const children = descendantsOf(program.pid);
      expect(children.length).toBeGreaterThan(2);

      program.signal(signal);

      expect(await program.ended).toBe(0);
      expect(children.filter(isAlive)).toEqual([]);
      expect(existsSync(announcementOf(program.pid))).toBe(false);
    },
  );

  it.each(["--api-port", "--aws-port", "--sandbox-port", "--control-port"])(
    "says which port is in use and how to choose another: %s",
    async (option) => {
      const taken = createServer();
      onTestFinished(() => closeServer(taken));
      const port = await listen(taken);
      await using program = start(...freePorts, option, String(port));

      expect(await program.ended).toBe(1);
      expect(program.output()).toContain(String(port));
      expect(program.output()).toContain("--ports auto");
      expect(descendantsOf(program.pid)).toEqual([]);
    },
  );

  it("reports a running system, and how to start another", async () => {
    await using first = start(...freePorts);
    await first.printed("Ctrl-C ends it.");
    const port = /Sandbox +http:\/\/127\.0\.0\.1:(\d+)/.exec(first.output())?.[1] ?? "";
    await using second = start(...freePorts, "--sandbox-port", port);

    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`income-events-local: process ${first.pid}, AWS endpoint http://`);
    expect(second.output()).toContain("npm start -- --ports auto");
    await using third = start(...freePorts);
    await third.printed("Ctrl-C ends it.");
  });

  it("reports a full disk, and leaves nothing running", async () => {
    // A device that is always full.
    await using program = start("--json", "/dev/full", ...freePorts);

    expect(await program.ended).toBe(1);
    expect(program.output()).toContain("The disk is full");
  });
});

/** Another subscriber's credentials do not read the first one's documents. */
async function refusesOthers(
  { region: signedFor, documents, subscribers }: z.output<typeof addresses>,
  path: string,
): Promise<void> {
  const { everything, accounts } = subscribers;
  const read = async (signer: typeof everything) => {
    const signing = { region: signedFor, ...(signer && { credentials: signer.credentials }) };
    return (await signedFetch(new URL(path, documents.url), signing)).status;
  };
  expect([await read(everything), await read(accounts)]).toEqual([200, 403]);
}
