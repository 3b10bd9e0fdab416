import { readLockfile } from "./lockfile.ts";
import { problemsOf } from "./problems.ts";

const { lock, manifests } = readLockfile();
const problems = problemsOf(lock, manifests);
for (const line of problems) process.stderr.write(`${line}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
