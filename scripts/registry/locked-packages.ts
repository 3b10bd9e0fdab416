import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, isFields } from "../../domain/core/parse.ts";

/** A version of a package that `package-lock.json` names. */
export type LockedPackage = {
  readonly name: string;
  readonly version: string;
  /** Where it is installed; absent: it is for another platform. */
  readonly folder?: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Whether a path below the folder is a package of its own, which npm has put there. */
  readonly isAnother: (path: string) => boolean;
};

const folderOfAll = "node_modules/";

/** By name: all that is locked. What comes within a package, too: npm and pnpm take it from there, yarn asks for it. */
export function lockedPackages(repository: string): ReadonlyMap<string, readonly LockedPackage[]> {
  const lock = fieldsOf(JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")), "the lock");
  const entries = Object.entries(fieldsOf(lock.packages, "packages"));
  const bundled = new Set(
    entries.flatMap(([path, entry]) => (isFields(entry) && entry.inBundle === true ? [path] : [])),
  );
  const packages = new Map<string, LockedPackage[]>();
  for (const [path, entry] of entries) {
    const at = path.lastIndexOf(folderOfAll);
    if (at < 0 || !isFields(entry) || entry.link === true) continue;
    const name = path.slice(at + folderOfAll.length);
    const others = packages.get(name) ?? [];
    if (others.some(({ version }) => version === entry.version)) continue;
    packages.set(name, [...others, lockedPackage(repository, path, name, { entry, bundled })]);
  }
  return packages;
}

function lockedPackage(
  repository: string,
  path: string,
  name: string,
  {
    entry,
    bundled,
  }: { readonly entry: Readonly<Record<string, unknown>>; readonly bundled: ReadonlySet<string> },
): LockedPackage {
  const folder = join(repository, path);
  const file = join(folder, "package.json");
  const isInstalled = existsSync(file);
  return {
    name,
    version: String(entry.version),
    manifest: isInstalled ? fieldsOf(JSON.parse(readFileSync(file, "utf8")), file) : { name, ...entry },
    ...(isInstalled && { folder }),
    isAnother: (below) => {
      const [, inside = ""] = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(below) ?? [];
      // A scope's folder is looked into.
      if (inside === "" || /^@[^/]+$/.test(inside)) return below.startsWith("node_modules/.");
      return !bundled.has(`${path}/${folderOfAll}${inside}`);
    },
  };
}
