/**
 * Puts 10,000 users and 100,000 deliveries on the sandbox, whose receiver refuses one in ten, and says how much
 * memory that took at most and how long a call of its API waited at most. Exits 1 over a limit, and where the
 * deliveries don't end in time. Linux only: it reads /proc. `--help` lists the options.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Command } from "commander";
import { z } from "zod";

const options = new Command("npm run proof -- sandbox-load")
  .description("Measures the sandbox under load.")
  .option("--users <number>", "users, each with an account", Number, 10_000)
  .option("--per-second <number>", "endpoint events in a second, once the users are made", Number, 3000)
  .option("--seconds <number>", "how long endpoint events are made", Number, 24)
  .option("--memory-mb <number>", "the most memory that the sandbox may take", Number, 512)
  .option("--wait-ms <number>", "the longest that a call may wait", Number, 2000)
  .option("--end-seconds <number>", "when every event must have been delivered", Number, 300)
  .parse()
  .opts<Record<"users" | "perSecond" | "seconds" | "memoryMb" | "waitMs" | "endSeconds", number>>();
const { users } = options;
// A user with an account makes three events.
const expected = users * 3 + options.perSecond * options.seconds;

const readySchema = z.object({
  sandbox: z.object({ baseUrl: z.string(), token: z.string() }),
  control: z.string(),
});
const packageSchema = z.object({ scripts: z.object({ sandbox: z.string() }) });
const pageSchema = z.object({ deliveries: z.array(z.object({ status: z.string() })) });

async function startReceiver() {
  let accepted = 0;
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      calls += 1;
      const refused = calls % 10 === 0;
      if (!refused) accepted += 1;
      response.writeHead(refused ? 500 : 202).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `http://127.0.0.1:${port}/`, accepted: () => accepted, close: () => server.close() };
}

/** Started with the flags of `npm run sandbox`, for they keep its memory small. */
async function startSandbox() {
  const { scripts } = packageSchema.parse(JSON.parse(await readFile("package.json", "utf8")));
  const flags = scripts.sandbox.split(" ").slice(2);
  const child = spawn(process.execPath, [...flags, "--first-retry", "200"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { ...readySchema.parse(JSON.parse(String(line))), child };
}

async function sendJson(method: string, url: string, body: object, token?: string): Promise<void> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { "content-type": "application/json", ...authorization };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

/** The most memory that a process has taken so far, in MB. */
async function memoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Calls the API again and again, and keeps the longest wait. @returns what ends it and reports */
function watch({ sandbox, child }: Awaited<ReturnType<typeof startSandbox>>) {
  let waitMs = 0;
  let over = false;
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const watching = (async () => {
    while (!over) {
      const before = performance.now();
      const response = await fetch(`${sandbox.baseUrl}/api/v0.4/users?limit=10`, { headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`a call was answered ${response.status} under load`);
      waitMs = Math.max(waitMs, Math.round(performance.now() - before));
      await pause(50);
    }
  })();
  // Reported below: a sandbox that fails in the middle must still be ended.
  watching.catch(() => undefined);
  return async () => {
    over = true;
    await watching;
    return { memoryMb: await memoryOf(child.pid), waitMs };
  };
}

async function isDone(control: string, accepted: number): Promise<boolean> {
  const response = await fetch(`${control}/deliveries?status=pending&limit=1`);
  return accepted >= expected && pageSchema.parse(await response.json()).deliveries.length === 0;
}

async function allDelivered(control: string, accepted: () => number): Promise<void> {
  const end = performance.now() + options.endSeconds * 1000;
  while (!(await isDone(control, accepted()))) {
    if (performance.now() > end) {
      throw new Error(`after ${options.endSeconds} s ${accepted()} of ${expected} events were delivered`);
    }
    await pause(200);
  }
}

/** Says which limits were broken. */
function assess(most: { readonly memoryMb: number; readonly waitMs: number }): void {
  const broken = (["memoryMb", "waitMs"] as const).filter((name) => most[name] > options[name]);
  for (const name of broken) process.stderr.write(`${name} ${most[name]} is over ${options[name]}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

const receiver = await startReceiver();
const service = await startSandbox();
try {
  const { sandbox, control } = service;
  for (const kind of ["users", "accounts", "endpoints"]) {
    const webhook = { url: receiver.url, method: "POST", headers: {} };
    await sendJson("PUT", `${sandbox.baseUrl}/api/v0.3/webhooks/${kind}`, webhook, sandbox.token);
  }
  const endWatch = watch(service);
  const before = performance.now();
  await sendJson("POST", `${control}/users`, { count: users });
  const { perSecond, seconds: loadSeconds } = options;
  await sendJson("POST", `${control}/load`, { perSecond, seconds: loadSeconds });
  await allDelivered(control, receiver.accepted);
  const seconds = Math.round((performance.now() - before) / 1000);
  const most = await endWatch();
  process.stdout.write(`${JSON.stringify({ users, deliveries: expected, seconds, ...most })}\n`);
  assess(most);
} finally {
  service.child.kill("SIGTERM");
  receiver.close();
}
