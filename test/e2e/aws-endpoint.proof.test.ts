import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ProductAssembly } from "../../scripts/product-assembly.ts";
import { synthesizeProduct } from "../support/product.ts";

const repository = join(import.meta.dirname, "..", "..");
const cdk = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");

/** Writes every name that a program, or one that it starts, looks up; an address of this machine needs none. */
const recordLookups = `
  import dns from "node:dns";
  import { appendFileSync } from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const real = dns.lookup;
  dns.lookup = (name, ...rest) => {
    appendFileSync(process.env.LOOKUPS_FILE, name + "\\n");
    return real(name, ...rest);
  };
  syncBuiltinESMExports();`;

const xml = (
  action: string,
  content: string,
) => `<${action}Response><${action}Result>${content}</${action}Result>
  </${action}Response>`;
/** What lets the tools go on to the other services. */
const answers: Readonly<Record<string, string>> = {
  GetCallerIdentity: xml("GetCallerIdentity", "<Account>123456789012</Account><Arn>arn:aws:iam::x</Arn>"),
  AssumeRole: xml(
    "AssumeRole",
    "<Credentials><AccessKeyId>AKIA</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>x</SessionToken>" +
      "<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>",
  ),
};

/** No emulator of CloudFormation: that the right doors are knocked at is all that can be seen here. */
describe("with AWS_ENDPOINT_URL set", () => {
  const services = new Set<string>();
  let server: Server;
  let endpoint = "";
  let product: ProductAssembly;
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "endpoint-"));
    product = await synthesizeProduct();
    server = createServer((request, response) => {
      const [, service = "unsigned"] =
        /\/([a-z0-9]+)\/aws4_request/.exec(request.headers.authorization ?? "") ?? [];
      services.add(service);
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      request.on("end", () => {
        const answer = answers[/Action=(\w+)/.exec(body)?.[1] ?? ""];
        if (answer !== undefined) response.writeHead(200, { "content-type": "text/xml" }).end(answer);
        else response.writeHead(403).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  });
  afterAll(async () => {
    server.close();
    await product?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => services.clear());

  /** Runs a command of CDK until the stand-in refuses it. @returns the names it looked up */
  const runCdk = async (...args: string[]) => {
    const file = join(directory, "lookups");
    await writeFile(file, "");
    const child = spawn(process.execPath, [cdk, ...args], {
      cwd: repository,
      stdio: "ignore",
      env: {
        PATH: process.env.PATH,
        HOME: directory,
        NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(recordLookups)}`,
        LOOKUPS_FILE: file,
        AWS_ENDPOINT_URL: endpoint,
        AWS_REGION: "eu-central-1",
        AWS_ACCESS_KEY_ID: "AKIATEST000000000000",
        AWS_SECRET_ACCESS_KEY: "test",
        AWS_EC2_METADATA_DISABLED: "true",
      },
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
    return (await readFile(file, "utf8")).split("\n").filter((name) => name !== "");
  };

  it("the bootstrap asks nobody else", async () => {
    expect(await runCdk("bootstrap", "--app", product.directory)).toEqual([]);
    expect([...services].sort()).toEqual(["cloudformation", "sts"]);
  });

  it("a deployment asks nobody else", async () => {
    expect(await runCdk("deploy", "--app", product.directory, "--require-approval", "never")).toEqual([]);
    expect([...services].sort()).toEqual(["s3", "ssm", "sts"]);
  });

  it("a removal asks nobody else", async () => {
    expect(await runCdk("destroy", "--app", product.directory, "--force")).toEqual([]);
    expect([...services].sort()).toEqual(["cloudformation", "sts"]);
  });
});
