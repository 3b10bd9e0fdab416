import { readLockfile } from "./lockfile.ts";
import { problemsOf } from "./problems.ts";

const { lock, manifest } = readLockfile();
const problems = problemsOf(lock, manifest);
for (const line of problems) process.stderr.write(`${line}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
