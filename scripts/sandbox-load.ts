/**
 * Puts 10,000 users and 100,000 deliveries on the sandbox, whose receiver refuses one in ten, and says how much
 * memory that took and how long a call of its API waited at most. Fails over the limits. Linux only: it reads /proc.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

const users = 10_000;
const load = { perSecond: 3000, seconds: 24 };
// A user with an account makes three events.
const expected = users * 3 + load.perSecond * load.seconds;
const limits = { memoryMb: 512, waitMs: 2000 };

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
  const [, ...options] = scripts.sandbox.split(" ");
  const child = spawn(process.execPath, [...options, "--first-retry", "200"], {
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

async function memoryOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Calls the API again and again, and keeps the longest wait and the largest memory. */
function watch({ sandbox, child }: Awaited<ReturnType<typeof startSandbox>>) {
  const most = { memoryMb: 0, waitMs: 0 };
  let over = false;
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const watching = (async () => {
    while (!over) {
      const before = performance.now();
      const response = await fetch(`${sandbox.baseUrl}/api/v0.4/users?limit=10`, { headers });
      await response.arrayBuffer();
      most.waitMs = Math.max(most.waitMs, Math.round(performance.now() - before));
      most.memoryMb = Math.max(most.memoryMb, await memoryOf(child.pid));
      await pause(50);
    }
  })();
  return async () => {
    over = true;
    await watching;
    return most;
  };
}

async function isDone(control: string, accepted: number): Promise<boolean> {
  const response = await fetch(`${control}/deliveries?status=pending&limit=1`);
  return accepted >= expected && pageSchema.parse(await response.json()).deliveries.length === 0;
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
  await sendJson("POST", `${control}/load`, load);
  while (!(await isDone(control, receiver.accepted()))) await pause(1000);
  const seconds = Math.round((performance.now() - before) / 1000);
  const most = await endWatch();
  process.stdout.write(`${JSON.stringify({ users, deliveries: expected, seconds, ...most })}\n`);
  if (most.memoryMb > limits.memoryMb || most.waitMs > limits.waitMs) process.exitCode = 1;
} finally {
  service.child.kill("SIGTERM");
  receiver.close();
}
