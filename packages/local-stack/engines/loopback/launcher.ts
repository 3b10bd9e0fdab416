import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const source = join(import.meta.dirname, "LoopbackDynamoDb.java");

/**
 * Compiles the launcher, a Java class that starts DynamoDB Local on loopback, once per version of DynamoDB
 * Local, next to the installed packages.
 * @param javac compiler of the JDK in use
 * @param directory of DynamoDB Local
 * @returns undefined without a compiler: an engine that listens on all interfaces is not started
 */
export async function loopbackLauncher(
  javac: string,
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
) {
  const engine = ["DynamoDBLocal.jar", join("DynamoDBLocal_lib", "*")].map((part) => join(directory, part));
  const digest = createHash("sha256")
    .update(await readFile(source))
    .update(directory)
    .digest("hex")
    .slice(0, 16);
  const cache = join(dirname(dirname(dirname(directory))), ".income-events");
  const compiled = join(cache, `loopback-${digest}`);
  if (!existsSync(compiled)) {
    const fresh = await mkdir(cache, { recursive: true })
      .then(() => mkdtemp(`${compiled}-`))
      .catch(() => undefined);
    if (fresh === undefined) return undefined;
    try {
      await promisify(execFile)(javac, ["-d", fresh, "-cp", engine.join(":"), source], { env: { ...env } });
      // Another process may have compiled it first.
      await rename(fresh, compiled).catch(() => undefined);
    } catch {
      return undefined;
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  return { classPath: [compiled, ...engine].join(":"), className: "LoopbackDynamoDb" };
}
