import { installedPackages, type LockedPackage, type Lockfile, type Manifest, nameAt } from "./lockfile.ts";

const registry = "https://registry.npmjs.org/";

/** Packages that may run a script of theirs when they are installed, and what for. */
const installScripts: Readonly<Record<string, string>> = {
  esbuild: "checks that the program for this system is there",
  node: "puts the program for this system in its place",
  yarn: "makes room for its program where it is installed for all projects, which it is not here",
};

/**
 * What in a lockfile lets code in that nobody looked at: packages that are from elsewhere than the registry, that are
 * not checked against a digest, or that run a script when they are installed.
 * @returns a line for each
 */
export function problemsOf(lock: Lockfile, manifests: ReadonlyMap<string, Manifest>): readonly string[] {
  const version =
    lock.lockfileVersion === 3
      ? []
      : [`the lockfile is of version ${lock.lockfileVersion}; write it with npm 7 or later`];
  return [
    ...version,
    ...[...manifests].flatMap(([file, manifest]) =>
      Object.values(manifest).flatMap((wanted) => problemsOfVersions(file, wanted)),
    ),
    ...installedPackages(lock).flatMap(([path, found]) =>
      problemsOfPackage(nameAt(path), found).map((line) => `${path}: ${line}`),
    ),
  ];
}

/** Exact versions alone: no range, no tag, no address. */
function problemsOfVersions(file: string, wanted: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(wanted)
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${file}: ${name} is asked for as ${version}; write the exact version`);
}

function problemsOfPackage(name: string, found: LockedPackage): readonly string[] {
  const { resolved = registry, integrity, hasInstallScript = false, link = false } = found;
  return [
    ...(link ? ["is a link; install it from the registry"] : []),
    // Locked without an address, it comes from whatever registry is set, and the digest says that it is the same.
    ...(resolved.startsWith(registry) ? [] : [`comes from ${resolved}; install it from the registry`]),
    ...(isChecked(found) || mayLackDigest(found)
      ? []
      : [
          `has ${integrity === undefined ? "no" : "a weak"} digest; remove it from the lockfile and run npm install`,
        ]),
    ...(hasInstallScript && !Object.hasOwn(installScripts, name)
      ? [
          "runs a script when it is installed; choose another, or list it in scripts/lockfile/problems.ts with its reason",
        ]
      : []),
  ];
}

function isChecked({ integrity = "" }: LockedPackage): boolean {
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
}

/** What comes within a package is checked with it. Programs for other systems are never installed where it was locked. */
function mayLackDigest({ inBundle = false, optional = false, integrity, ...system }: LockedPackage): boolean {
  return inBundle || (integrity === undefined && optional && !isForLinux(system));
}

/** The system that continuous integration has: GNU/Linux on x64. */
function isForLinux({ os, cpu, libc }: Pick<LockedPackage, "os" | "cpu" | "libc">): boolean {
  const allows = (list: readonly string[] | undefined, name: string) =>
    list === undefined || list.includes(name);
  return allows(os, "linux") && allows(cpu, "x64") && allows(libc, "glibc");
}
