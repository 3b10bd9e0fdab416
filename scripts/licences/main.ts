import { installedPackages, nameAt, readLockfile } from "../lockfile/lockfile.ts";

/** Licences under which a dependency may be built on. What is ours is Apache-2.0. */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
]);

/** Also good for tools, and for the data that they carry, which are used as they are and reach no bundle. */
const allowedForTools: ReadonlySet<string> = new Set([
  ...allowed,
  "CC-BY-4.0",
  "MPL-2.0",
  "PSF-2.0",
  "Python-2.0",
]);

const refused = installedPackages(readLockfile().lock)
  .map(([path, { license = "not known", dev = false }]) => ({ name: nameAt(path), license, dev }))
  .filter(({ license, dev }) => !isAllowed(license, dev ? allowedForTools : allowed));

/** `(MIT OR Apache-2.0)`: one of them suffices. `A AND B`: all of them must do. */
function isAllowed(expression: string, licences: ReadonlySet<string>): boolean {
  const choices = expression.replace(/[()]/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((name) => licences.has(name.trim())));
}

for (const { name, license } of refused) {
  process.stderr.write(`${name}: its licence is ${license}; choose another package\n`);
}
process.exitCode = refused.length === 0 ? 0 : 1;
