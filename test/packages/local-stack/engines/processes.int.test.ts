import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startDynamoDb } from "@income-events/local-stack/engines/dynamodb.ts";
import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { secretHeadersFor } from "@income-events/local-stack/engines/run-secret.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let emptyDirectory: string;

beforeAll(async () => {
  emptyDirectory = await mkdtemp(join(tmpdir(), "engines-"));
});

afterAll(async () => {
  await rm(emptyDirectory, { recursive: true });
});

async function isUp(url: string): Promise<boolean> {
  return fetch(new URL(url).origin).then(
    () => true,
    () => false,
  );
}

/** External addresses of this machine. */
function outsideAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address);
}

/** A table engine with a relative directory for its state. */
async function tableEngine(engine: "dynamodb-local" | "dynoxide") {
  const keep = relative(process.cwd(), await mkdtemp(join(emptyDirectory, "state-")));
  return startDynamoDb({ engine, keep });
}
const amazons = () => tableEngine("dynamodb-local");
const queues = () => startQueuesAndObjects({ region: "eu-central-1" });

describe("an engine", () => {
  test.each([
    ["Amazon's", amazons],
    ["the native one", () => tableEngine("dynoxide")],
    ["queues and objects", queues],
  ])("answers on loopback only, and is gone when closed: %s", async (_, start) => {
    const running = await start();
    expect(await isUp(running.url)).toBe(true);
    for (const address of outsideAddresses())
      expect(await isUp(`http://${address}:${new URL(running.url).port}`)).toBe(false);
    await running.close();
    expect(await isUp(running.url)).toBe(false);
  });

  test.each([
    ["Amazon's", amazons],
    ["queues and objects", queues],
  ])(
    "answers who knows the run's secret, by no name that a page in a browser could use: %s",
    async (_, start) => {
      const running = await start();
      const statusFor = async (headers: Record<string, string>) => {
        const call = request(new URL(running.url).origin, { method: "POST", headers }).end();
        const [answer] = await once(call, "response");
        answer.resume();
        return answer.statusCode;
      };
      const secret = secretHeadersFor(running.url);
      expect(await statusFor({ ...secret, host: "rebound.example" })).toBe(403);
      expect(await statusFor({})).toBe(403);
      expect(await statusFor({ "x-engine-secret": "guessed" })).toBe(403);
      expect(await statusFor({ ...secret, host: "localhost" })).not.toBe(403);
      await running.close();
    },
  );
});

describe("the table engine", () => {
  test("is Amazon's if there is Java, and else the native one", async () => {
    for (const [PATH, name] of [
      [process.env.PATH, "DynamoDB Local"],
      [emptyDirectory, "Dynoxide"],
    ]) {
      const running = await startDynamoDb({ environment: { PATH } });
      expect(running.name).toContain(name);
      await running.close();
    }
  });

  test("has another address of loopback in each run if it is native, so that no page in a browser finds it", async () => {
    const addresses = new Set<string>();
    for (let run = 0; run < 3; run += 1) {
      const running = await startDynamoDb({ engine: "dynoxide" });
      addresses.add(new URL(running.url).hostname);
      await running.close();
    }
    expect([...addresses].filter((address) => /^127(\.\d+){3}$/.test(address))).toHaveLength(3);
  });

  test("is the DYNAMODB_ENDPOINT as it is, and nothing is started", async () => {
    const running = await startDynamoDb({ environment: { DYNAMODB_ENDPOINT: "http://127.0.0.1:8000/" } });
    expect(running.url).toBe("http://127.0.0.1:8000");
    await running.close();
    await expect(startDynamoDb({ environment: { DYNAMODB_ENDPOINT: "here" } })).rejects.toThrow(
      'DYNAMODB_ENDPOINT is "here": set an address such as http://127.0.0.1:8000',
    );
  });

  test.each([
    ["no Java", "", /JDK 17 or later.*@dynoxide\/linux-x64.*DYNAMODB_ENDPOINT/],
    ["an old Java", 'java version "11.0.2"', "No engine for the table (asked for dynamodb-local)"],
    [
      "a full disk",
      'openjdk version "21.0.1"',
      "DynamoDB Local did not start: it ended, saying: No space left",
    ],
  ])("does not start with %s, and says why", async (_, version, message) => {
    const directory = await mkdtemp(join(emptyDirectory, "java-"));
    const script = `#!/bin/sh\n[ "$1" = -version ] && { echo '${version}' >&2; exit; }\necho 'No space left on device' >&2\nexit 1\n`;
    if (version !== "") await writeFile(join(directory, "java"), script, { mode: 0o755 });
    const starting = startDynamoDb({ engine: "dynamodb-local", environment: { PATH: directory } });
    await expect(starting).rejects.toThrow(message);
  });

  test.each(["SIGKILL", "SIGTERM"] as const)("does not outlive a runner that ends by %s", async (signal) => {
    const program =
      'import { startDynamoDb } from "./packages/local-stack/engines/dynamodb.ts";' +
      'const running = await startDynamoDb({ engine: "dynoxide" }); console.log(running.url);';
    const runner = spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(runner.stdout.setEncoding("utf8"), "data");
    const url = String(line).trim();
    expect(await isUp(url)).toBe(true);
    runner.kill(signal);
    while (await isUp(url)) await delay(10);
  });
});
