import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { createClients } from "@income-events/cli/core/clients.ts";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { s3Client } from "../../../adapters/s3/s3-client.ts";
import { startTestSystem } from "../../support/engines.ts";

const system = await startTestSystem();
afterAll(() => system.close());
afterEach(() => vi.unstubAllEnvs());

const byName = system.access.endpoint.replace("127.0.0.1", "localhost");
const configFile = join(mkdtempSync(join(tmpdir(), "aws-")), "config");
writeFileSync(configFile, `[profile emulated]\nendpoint_url = ${byName}\n`);

/** Where a client would send a request for an object of the bucket `kept`. */
async function addressOf(settings: S3ClientConfig): Promise<string> {
  let address = "";
  const client = s3Client(S3Client, {
    region: "eu-central-1",
    credentials: { accessKeyId: "A", secretAccessKey: "S" },
    requestHandler: {
      handle: async ({ hostname, path }: { hostname: string; path: string }) => {
        address = hostname + path;
        throw new Error("not sent");
      },
    },
    maxAttempts: 1,
    ...settings,
  });
  await expect(client.send(new GetObjectCommand({ Bucket: "kept", Key: "a/b" }))).rejects.toThrow("not sent");
  return address;
}

test.each<[string, Record<string, string>, S3ClientConfig, string]>([
  ["AWS_ENDPOINT_URL", { AWS_ENDPOINT_URL: byName }, {}, "localhost/kept/a/b"],
  ["an endpoint of S3 alone", { AWS_ENDPOINT_URL_S3: "http://s3.test:9000" }, {}, "s3.test/kept/a/b"],
  ["the client's settings", {}, { endpoint: "https://emulator.test" }, "emulator.test/kept/a/b"],
  [
    "AWS's configuration file",
    { AWS_CONFIG_FILE: configFile, AWS_PROFILE: "emulated" },
    {},
    "localhost/kept/a/b",
  ],
  ["nothing", {}, {}, "kept.s3.eu-central-1.amazonaws.com/a/b"],
])(
  "a bucket's name stands in the path where an endpoint is set, by %s",
  async (_, env, settings, address) => {
    vi.stubEnv("AWS_ENDPOINT_URL", "");
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(await addressOf(settings)).toBe(address);
  },
);

test.each([
  ["a function", (_: object) => undefined],
  ["a command", (client: { region: string }) => createClients({ client }).s3],
])("%s uses S3 at http://localhost, named in AWS_ENDPOINT_URL", async (_, clientOf) => {
  vi.stubEnv("AWS_ENDPOINT_URL", byName);
  const bucket = await system.createBucket();
  const objects = overflowBucket(bucket.name, clientOf({ region: system.access.region }));
  await objects.put("a/b", "content");
  expect(Buffer.from(await objects.get("a/b")).toString()).toBe("content");
});
