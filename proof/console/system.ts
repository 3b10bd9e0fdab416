import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { announce } from "@income-events/local-stack/announce.ts";
import { freePort } from "@income-events/local-stack/free-port.ts";
import type { LocalFunction } from "@income-events/local-stack/stack/local-stack.ts";
import { startConsole } from "@income-events/local-stack/stay-up/console.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { type Browser, chromium, type Page } from "playwright-core";
import { z } from "zod";
import { type LiveHeap, openHeap } from "./live-heap.ts";

type Access = Awaited<ReturnType<typeof startSystem>>["access"];

/** The stack of `npm start` with its console, and a browser that was let in. */
export type OpenedSystem = AsyncDisposable & {
  readonly origin: string;
  readonly page: Page;
  readonly functions: readonly LocalFunction[];
  readonly outputs: Readonly<Record<string, string>>;
  /** For the clients of AWS. */
  readonly access: Access;
  /** The console's process. */
  readonly pid: number;
  readonly heap: LiveHeap;
  /** Sends a webhook that announces a new user. */
  readonly sendUser: (id: string) => Promise<void>;
};

/** Far beyond what a busy machine takes. */
const patienceMs = 180_000;

export async function openSystem(executablePath: string): Promise<OpenedSystem> {
  await using closers = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "income-events-console-"));
  closers.defer(() => rm(directory, { recursive: true, force: true }));
  const logs = join(directory, "logs");
  const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0, controlPort: 0 };
  const options = { once: false, users: 0, stage: "local", logs, ...ports };
  const system = await startSystem(
    options,
    {},
    () => undefined,
    () => undefined,
  );
  closers.defer(() => system.close());
  closers.defer(announce(system.stack, { sandbox: system.sandbox, logs }));
  const awsPort = Number(new URL(system.stack.gatewayUrl).port);
  const onSaid = () => undefined;
  const inspectPort = await freePort("127.0.0.1");
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `${before ?? ""} --inspect-port=${inspectPort}`;
  const served = await startConsole({ program: "packages/cli/main.ts", port: 0, awsPort, onSaid });
  if (before === undefined) delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = before;
  closers.defer(() => served.close());
  const pid = await childRunning("packages/cli/main.ts");
  const heap = closers.use(await openHeap(pid, inspectPort));
  const browser: Browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
  });
  closers.defer(() => browser.close());
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.setDefaultTimeout(patienceMs);
  await page.goto(served.url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const { apiUrl, outputs } = system.stack;
  const headers = {
    "content-type": "application/json",
    [outputs.WebhookSecretHeader ?? ""]: await webhookSecret(system.access, outputs.WebhookSecretArn),
  };
  const ending = closers.move();
  return {
    origin: new URL(served.url).origin,
    page,
    functions: system.stack.functions,
    outputs,
    access: system.access,
    pid,
    heap,
    sendUser: async (id) => {
      const body = JSON.stringify({ action: "create_user", data: { id } });
      const answer = await fetch(`${apiUrl}/webhooks/users`, { method: "POST", headers, body });
      if (answer.status !== 202) throw new Error(`a webhook was answered ${answer.status}`);
    },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  };
}

async function webhookSecret(access: Access, SecretId: string | undefined): Promise<string> {
  const client = new SecretsManagerClient(access);
  try {
    const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId }));
    return z.object({ current: z.string() }).parse(JSON.parse(SecretString)).current;
  } finally {
    client.destroy();
  }
}

/** By Linux's process table. @throws where there is no such child */
async function childRunning(program: string): Promise<number> {
  for (const name of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    const [status, line] = [await read("status"), await read("cmdline")];
    if (new RegExp(`^PPid:\\s+${process.pid}$`, "m").test(status) && line.includes(program))
      return Number(name);
  }
  throw new Error(`no child of this process runs ${program}`);
}

/** @returns the bytes that a process holds of the machine's memory */
export async function residentBytes(pid: number): Promise<number> {
  const [, kilobytes = "0"] =
    /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Adds to the log of what stores users, as if it had stored so many a second apart. */
export function addStored(functions: readonly LocalFunction[], count: number): void {
  const store = functions.find(({ logicalId }) => logicalId.includes("UsersStore"));
  const line = store?.log().find((each) => each.includes("EVENT_STORED"));
  if (store === undefined || line === undefined) throw new Error("nothing was stored yet");
  const sample = z.looseObject({ timestamp: z.string() }).parse(JSON.parse(line));
  const end = Date.parse(sample.timestamp);
  for (let index = 0; index < count; index++) {
    // Within the hour that the page shows first.
    const timestamp = new Date(end - Math.floor(((count - index) / count) * 3_000_000)).toISOString();
    store.addToLog(
      JSON.stringify({ ...sample, timestamp, correlationIds: [randomBytes(32).toString("base64url")] }),
    );
  }
}
