/** Runs one proof with its flags: `npm run proof -- <name> [flags]`. `--list` says what there is. */
import { join } from "node:path";
import { listText, proofs } from "./catalogue.ts";

const [name, ...flags] = process.argv.slice(2);
const proof = proofs.find((each) => each.name === name);
if (proof !== undefined) {
  const program = join(import.meta.dirname, "..", proof.program);
  // In this process: the program gets its flags, signals and exit code as if it were started by itself.
  process.argv.splice(1, process.argv.length - 1, program, ...flags);
  await import(program);
} else if (name === "--list" || name === "--help" || name === "-h") {
  process.stdout.write(listText());
} else {
  process.stderr.write(
    `${name === undefined ? "Name a proof." : `There is no proof "${name}".`}\n\n${listText()}`,
  );
  process.exitCode = 2;
}
