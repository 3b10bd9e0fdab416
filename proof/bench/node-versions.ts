import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A Node to start functions with. */
export type NodeVersion = {
  readonly file: string;
  /** Such as `24.21.0`. */
  readonly version: string;
  /** Reported behind the names of rows, where it is not the version that the functions run on. */
  readonly suffix: string;
};

/** The version that the functions run on, which runs this too. */
export const ownNode: NodeVersion = { file: process.execPath, version: process.versions.node, suffix: "" };

const patienceMs = 120_000;

/**
 * The Node before it, as npm has it: its package is kept in npm's cache, and is none of the project's.
 * @throws with a remedy where it can't be had
 */
export async function findNode22(): Promise<NodeVersion> {
  const report = "process.stdout.write(JSON.stringify([process.execPath, process.versions.node]))";
  const command = ["exec", "--yes", "--package=node@22", "--", "node", "--eval", report];
  const run = promisify(execFile)("npm", command, { timeout: patienceMs });
  const { stdout } = await run.catch((error: unknown) => {
    throw new Error(
      `Node 22 can't be had from npm's registry: connect to it, or leave the imports out (${error})`,
    );
  });
  const [file, version]: string[] = JSON.parse(stdout);
  if (file === undefined || !version?.startsWith("22.")) throw new Error(`npm gave Node ${version}, not 22`);
  return { file, version, suffix: "-node22" };
}
