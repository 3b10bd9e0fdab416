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

/** Resolves once nothing answers; the test's own limit bounds it. */
async function down(url: string): Promise<void> {
  while (await isUp(url)) await delay(10);
}

/** An engine's answers without the run's secret, or under a DNS name of loopback, and with both right. */
async function expectSecretAndHost(address: string): Promise<void> {
  const { origin } = new URL(address);
  const statusFor = async (headers: Record<string, string>) => {
    const call = request(origin, { method: "POST", headers }).end();
    const [answer] = await once(call, "response");
    answer.resume();
    return answer.statusCode;
  };
  const secret = secretHeadersFor(address);
  expect(await statusFor({ ...secret, host: "rebound.example" })).toBe(403);
  expect(await statusFor({})).toBe(403);
  expect(await statusFor({ "x-engine-secret": "guessed" })).toBe(403);
  expect(await statusFor({ ...secret, host: "localhost" })).not.toBe(403);
}

describe("the table engine", () => {
  test.each(["dynamodb-local", "dynoxide"] as const)(
    "%s starts, also with a relative directory for its state, answers on loopback only, and is gone when closed",
    async (engine) => {
      const keep = relative(process.cwd(), await mkdtemp(join(emptyDirectory, "state-")));
      const running = await startDynamoDb({ engine, keep });
      expect(await isUp(running.url)).toBe(true);
      for (const address of outsideAddresses())
        expect(await isUp(`http://${address}:${new URL(running.url).port}`)).toBe(false);
      await running.close();
      expect(await isUp(running.url)).toBe(false);
    },
  );

  test("Amazon's engine is used if there is Java", async () => {
    const running = await startDynamoDb({ environment: { PATH: process.env.PATH } });
    expect(running.name).toContain("DynamoDB Local");
    await running.close();
  });

  test("Amazon's engine answers who knows the run's secret, by no name that a page in a browser could use", async () => {
    const running = await startDynamoDb({ engine: "dynamodb-local" });
    await expectSecretAndHost(running.url);
    await running.close();
  });

  test("the native engine has another address of loopback in each run, so that no page in a browser finds it", async () => {
    const addresses = new Set<string>();
    for (let run = 0; run < 3; run += 1) {
      const running = await startDynamoDb({ engine: "dynoxide" });
      addresses.add(new URL(running.url).hostname);
      await running.close();
    }
    expect([...addresses].filter((address) => /^127(\.\d+){3}$/.test(address))).toHaveLength(3);
  });

  test("the native engine is used if there is no Java", async () => {
    const running = await startDynamoDb({ environment: { PATH: emptyDirectory } });
    expect(running.name).toContain("Dynoxide");
    await running.close();
  });

  test("DYNAMODB_ENDPOINT is taken as it is, and nothing is started", async () => {
    const running = await startDynamoDb({ environment: { DYNAMODB_ENDPOINT: "http://127.0.0.1:8000/" } });
    expect(running.url).toBe("http://127.0.0.1:8000");
    await running.close();
  });

  test("a DYNAMODB_ENDPOINT that is no address is named", async () => {
    await expect(startDynamoDb({ environment: { DYNAMODB_ENDPOINT: "here" } })).rejects.toThrow(
      'DYNAMODB_ENDPOINT is "here": set an address such as http://127.0.0.1:8000',
    );
  });

  test("without an engine, all remedies are named", async () => {
    const starting = startDynamoDb({ engine: "dynamodb-local", environment: { PATH: emptyDirectory } });
    await expect(starting).rejects.toThrow(/JDK 17 or later.*@dynoxide\/linux-x64.*DYNAMODB_ENDPOINT/);
  });

  test.each([
    ['java version "11.0.2"', "No engine for the table (asked for dynamodb-local)"],
    ['openjdk version "21.0.1"', "DynamoDB Local did not start: it ended, saying: No space left on device"],
  ])("with a Java that is %s and a full disk: %s", async (version, message) => {
    const directory = await mkdtemp(join(emptyDirectory, "java-"));
    const script = `#!/bin/sh\n[ "$1" = -version ] && { echo '${version}' >&2; exit; }\necho 'No space left on device' >&2\nexit 1\n`;
    await writeFile(join(directory, "java"), script, { mode: 0o755 });
    const starting = startDynamoDb({ engine: "dynamodb-local", environment: { PATH: directory } });
    await expect(starting).rejects.toThrow(message);
  });

  test.each(["SIGKILL", "SIGTERM"] as const)(
    "it does not outlive a runner that ends by %s",
    async (signal) => {
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
      await down(url);
    },
  );
});

describe("queues and objects", () => {
  test("are for who knows the run's secret, by no name that a page in a browser could use", async () => {
    const engine = await startQueuesAndObjects({ region: "eu-central-1" });
    await expectSecretAndHost(engine.url);
    await engine.close();
  });

  test("answer on loopback only, and are gone when closed", async () => {
    const engine = await startQueuesAndObjects({ region: "eu-central-1" });
    const { port } = new URL(engine.url);
    expect(await isUp(engine.url)).toBe(true);
    for (const address of outsideAddresses())
      expect(await isUp(`http://${address}:${port}/health`)).toBe(false);
    await engine.close();
    expect(await isUp(engine.url)).toBe(false);
  });
});
