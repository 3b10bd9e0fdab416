import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { localAccount } from "@income-events/local-stack/engines/engine-client.ts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { exampleOf } from "../../../scripts/documents/examples.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../../..");
const textOf = (file: string) => readFileSync(join(repository, file), "utf8");
const blocksOf = (file: string, language: string) =>
  [...textOf(file).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(
    ([, code = ""]) => code,
  );
const guide = "packages/subscriber/README.md";
const guideLoop = blocksOf(guide, "js")[0] ?? "";

/** Runtimes: the tests' own, and the machine's if it has one. */
const nodes = [
  { name: "the Node of the tests", node: process.execPath },
  ...(process.env.PATH ?? "")
    .split(delimiter)
    .filter((directory) => !directory.includes("node_modules"))
    .map((directory) => ({ name: "the machine's Node", node: join(directory, "node") }))
    .filter(({ node }) => existsSync(node))
    .slice(0, 1),
];

describe("the subscriber's package, installed from its file into a fresh folder", () => {
  let folder: string;
  let system: TestSystem;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "income-events-subscriber-"));
    await run(process.execPath, [join(repository, "scripts/pack.ts"), "subscriber", "--to", folder]);
    const project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    const file = join(folder, "income-events-subscriber-0.1.0.tgz");
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", file], { cwd: project });
    folder = project;
    system = await startTestSystem();
  });
  afterAll(async () => {
    await system.close();
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });

  const typeErrors = async (program: string) => {
    writeFileSync(join(folder, "program.ts"), program);
    const options = { module: "nodenext", target: "es2022", strict: true, noEmit: true, types: [] };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["program.ts"] }),
    );
    const tsc = join(repository, "node_modules", ".bin", "tsc");
    return run(tsc, ["-p", folder]).then(
      () => "",
      (error: { stdout?: string }) => error.stdout ?? "",
    );
  };

  it("brings nothing but itself", () => {
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    expect(Object.keys(lock.packages)).toEqual(["", "node_modules/@income-events/subscriber"]);
  });

  it("types messages by their type, for strict programs, its own declarations checked too", async () => {
    const program = `
      import { createReader, inMemory, lambdaHandler, type Memory, type MessageOf, readDocument } from "@income-events/subscriber";
      const digestOf = ({ data }: MessageOf<"data.updated">): string | undefined => data.document?.sha256;
      const incomeOf = async (message: MessageOf<"data.updated">): Promise<readonly string[]> => {
        const document = await readDocument(message);
        return document.type === "document" ? document.json("income").data.map(({ net }) => net) : [];
      };
      const memory: Memory = inMemory();
      const read = createReader({
        memory,
        handle: (message) => {
          switch (message.type) {
            case "data.updated":
              digestOf(message);
              return incomeOf(message).then(() => undefined);
            case "account.connected": {
              const { accountId, outcome }: { accountId: string; outcome: "applied" | "agreed" | "stale" | "unconfirmed" } = message.data;
              void [accountId, outcome];
            }
          }
        },
      });
      export const handler = lambdaHandler(read, () => {});
    `;
    expect(await typeErrors(program)).toBe("");
    const wrong = program
      .replace("document?.sha256", "document?.sha512")
      .replace("({ net }) => net", "({ nett }) => nett")
      .replace("accountId, outcome }:", "acountId, outcome }:");
    const errors = await typeErrors(wrong);
    expect(errors).toContain("'sha512' does not exist");
    expect(errors).toContain("'acountId' does not exist");
    expect(errors).toContain("'nett' does not exist");
  });

  it.each(nodes)(
    "runs its guide's loop on $name: once in effect, the newest last, the unreadable as dead letters",
    async ({ node }) => {
      const { queueUrl, deadLetters } = await createQueues();
      await using loop = startLoop(node, queueUrl, guideLoop);
      const eventually = <T>(look: () => T) => expect.poll(look);
      const send = (message: object) => system.send(queueUrl, JSON.stringify(message));
      const data = exampleOf("data.updated");
      const handled = `new data: ${data.subject} ${"document" in data.data ? data.data.document?.href : ""}`;
      const others = () => loop.lines.filter((line) => line !== handled);

      await send(data);
      await eventually(() => loop.lines).toEqual([handled]);
      await send(data);
      await send({ ...data, id: "older", sequence: "0".repeat(20) });
      await send({ ...data, id: "later", type: "data.merged" });
      await system.send(queueUrl, "no message");
      await send({ ...data, id: "last", sequence: "9".repeat(20) });
      await eventually(async () => (await system.receive(deadLetters)).map(({ Body }) => Body)).toEqual([
        "no message",
      ]);
      await eventually(() => loop.lines.length - others().length).toBe(2);
      expect(new Set(others())).toEqual(new Set(["unreadable the message is no JSON object"]));
      expect(await system.drain(queueUrl)).toEqual([]);
    },
  );

  it.each([
    ["the README", "loop.js", blocksOf("README.md", "js")[0] ?? ""],
    ["the example that init writes", "loop.ts", textOf("examples/minimal/subscriber.ts")],
  ])(
    "prints, by the program of %s, why a document can't be read, and leaves the message",
    async (_, file, code) => {
      const refusing = createServer((_request, response) => response.writeHead(403).end("{}"));
      await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void refusing.close());
      const { port } = z.object({ port: z.number() }).parse(refusing.address());
      const { queueUrl, deadLetters } = await createQueues();
      await using loop = startLoop(process.execPath, queueUrl, code, file);
      const { data, ...message } = exampleOf("data.updated");
      const document = { ...Object(Object(data).document), href: `http://127.0.0.1:${port}/v1/document` };
      await system.send(
        queueUrl,
        JSON.stringify({ ...message, data: { ...data, endpoint: "income", document } }),
      );
      await expect.poll(() => loop.lines).toContain("the document was answered 403");
      await expect.poll(async () => (await system.receive(deadLetters)).length).toBe(1);
    },
  );

  /** A queue whose messages become dead letters after two receives in quick succession. */
  async function createQueues() {
    const deadLetters = await system.createQueue();
    const deadLetterTargetArn = `arn:aws:sqs:eu-central-1:${localAccount}:${deadLetters.split("/").at(-1)}`;
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
    return { deadLetters, queueUrl: await system.createQueue({ VisibilityTimeout: "1", RedrivePolicy }) };
  }

  function startLoop(node: string, queueUrl: string, program: string, file = "loop.js") {
    writeFileSync(join(folder, file), program);
    const sdk = join(folder, "node_modules", "@aws-sdk");
    if (!existsSync(sdk)) symlinkSync(join(repository, "node_modules", "@aws-sdk"), sdk);
    const env = { ...process.env, SUBSCRIBER_QUEUE_URL: queueUrl, NODE_NO_WARNINGS: "1" };
    const child = spawn(node, [file], { cwd: folder, env });
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on("line", (line) => {
        lines.push(line);
      });
    return {
      lines,
      [Symbol.asyncDispose]: async () => {
        child.kill();
        await once(child, "close");
      },
    };
  }
});

describe("the guide of the package", () => {
  it("shows the memory in DynamoDB that is tested", () => {
    const example = textOf("packages/subscriber/examples/dynamodb-memory.ts").replace(
      "../index.ts",
      "@income-events/subscriber",
    );
    expect(blocksOf(guide, "ts")).toEqual([example]);
  });
});
