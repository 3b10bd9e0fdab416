import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const lockedPackage = z.object({
  version: z.string().exactOptional(),
  resolved: z.string().exactOptional(),
  integrity: z.string().exactOptional(),
  link: z.boolean().exactOptional(),
  inBundle: z.boolean().exactOptional(),
  optional: z.boolean().exactOptional(),
  hasInstallScript: z.boolean().exactOptional(),
  os: z.array(z.string()).exactOptional(),
  cpu: z.array(z.string()).exactOptional(),
  libc: z.array(z.string()).exactOptional(),
});

const lists = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

const lockfile = z.object({
  lockfileVersion: z.number(),
  packages: z.record(z.string(), lockedPackage),
});

export type LockedPackage = z.output<typeof lockedPackage>;
export type Lockfile = z.output<typeof lockfile>;
export type Manifest = z.output<typeof lists>;

const repository = join(import.meta.dirname, "../..");
const read = (file: string): unknown => JSON.parse(readFileSync(join(repository, file), "utf8"));

/** The lockfile with what package.json asks for. */
export function readLockfile(): { readonly lock: Lockfile; readonly manifest: Manifest } {
  return { lock: lockfile.parse(read("package-lock.json")), manifest: lists.parse(read("package.json")) };
}

/** Of a path such as `node_modules/a/node_modules/@b/c` the package's name. */
export function nameAt(path: string): string {
  return path.replace(/^.*node_modules\//, "");
}
