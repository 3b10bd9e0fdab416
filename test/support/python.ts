import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const repository = join(import.meta.dirname, "../..");

/** Environment for the repository's Python programs. */
export const pythonEnvironment = {
  PYTHONPATH: [
    join(repository, "packages/subscriber-python"),
    join(repository, "examples/monthly-income"),
  ].join(":"),
  PYTHONDONTWRITEBYTECODE: "1",
};

const versionCheck =
  "import boto3, sys; sys.exit(tuple(int(part) for part in boto3.__version__.split('.')) < (1, 28, 82))";
const candidates = ["python3", "/usr/bin/python3"];
const runs = (program: string) => (each: string) => spawnSync(each, ["-c", program]).status === 0;
const newer = candidates.find(runs(versionCheck));
const any = newer ?? candidates.find(runs("import boto3"));

/** Python on the PATH, else Debian's, with boto3. */
export const python = any ?? "python3";

/** Whether tests in Python run: with FORBID_SKIPS they do, and fail without boto3. */
export const runsPython = process.env.FORBID_SKIPS !== undefined || any !== undefined;

/** Whether boto3 can call the local stack: AWS_ENDPOINT_URL, and SQS's JSON protocol, from 1.28.82. */
export const reachesLocalStack = newer !== undefined;

/**
 * Answers each question (a command of `driver.py` with its argument) with the Python packages.
 * @param environment variables in addition to this process's own
 */
export async function askPython(
  questions: readonly (readonly [command: string, argument: unknown])[],
  environment: Readonly<Record<string, string>> = {},
): Promise<unknown[]> {
  const driver = join(repository, "test/packages/subscriber-python/driver.py");
  const env = { ...process.env, ...pythonEnvironment, ...environment };
  const answered = promisify(execFile)(python, [driver], { env, encoding: "utf8", maxBuffer: 1e9 });
  answered.child.stdin?.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  return (await answered).stdout
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}
