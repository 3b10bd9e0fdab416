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
  license: z.string().exactOptional(),
  dev: z.boolean().exactOptional(),
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

/** The lockfile, and what each `package.json` of the repository asks for, by its path. */
export function readLockfile(): {
  readonly lock: Lockfile;
  readonly manifests: ReadonlyMap<string, Manifest>;
} {
  const lock = lockfile.parse(read("package-lock.json"));
  const files = Object.keys(lock.packages)
    .filter(isOwn)
    .map((path) => join(path, "package.json"));
  return { lock, manifests: new Map(files.map((file) => [file, lists.parse(read(file))])) };
}

/** What the lockfile has from outside of the repository: neither its own packages nor their links. */
export function installedPackages({ packages }: Lockfile): readonly (readonly [string, LockedPackage])[] {
  return Object.entries(packages).filter(
    ([path, { link = false, resolved = "" }]) =>
      !isOwn(path) && !(link && resolved !== "" && isOwn(resolved) && Object.hasOwn(packages, resolved)),
  );
}

function isOwn(path: string): boolean {
  return !path.split("/").includes("node_modules");
}

/** Of a path such as `node_modules/a/node_modules/@b/c` the package's name. */
export function nameAt(path: string): string {
  return path.replace(/^.*node_modules\//, "");
}
