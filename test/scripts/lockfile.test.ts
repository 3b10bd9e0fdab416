import { describe, expect, it } from "vitest";
import { installedPackages, type LockedPackage, readLockfile } from "../../scripts/lockfile/lockfile.ts";
import { problemsOf } from "../../scripts/lockfile/problems.ts";

const integrity = `sha512-${"A".repeat(86)}==`;
const nothingWanted = { dependencies: {}, devDependencies: {}, optionalDependencies: {} };
const lockOf = (found: LockedPackage, path = "node_modules/a") =>
  problemsOf({ lockfileVersion: 3, packages: { "": {}, [path]: found } }, new Map());

describe("the lockfile", () => {
  it("of this repository has nothing from elsewhere, unchecked, or with a script of its own", () => {
    const { lock, manifests } = readLockfile();
    expect(installedPackages(lock).length).toBeGreaterThan(100);
    expect([...manifests.keys()]).toEqual(
      expect.arrayContaining(["package.json", "packages/sandbox/package.json"]),
    );
    expect(problemsOf(lock, manifests)).toEqual([]);
  });

  it("may leave the registry's address out, and may name it", () => {
    expect(lockOf({ version: "1.0.0", integrity })).toEqual([]);
    expect(lockOf({ integrity, resolved: "https://registry.npmjs.org/a/-/a-1.0.0.tgz" })).toEqual([]);
  });

  it.each([
    ["a repository", { integrity, resolved: "git+ssh://git@github.com/a/a.git#0a1b" }, /comes from git\+ssh/],
    ["another host", { integrity, resolved: "https://evil.example/a.tgz" }, /comes from https:\/\/evil/],
    [
      "a host that begins the same",
      { integrity, resolved: "https://registry.npmjs.org.evil.example/a.tgz" },
      /comes from/,
    ],
    ["plain http", { integrity, resolved: "http://registry.npmjs.org/a/-/a-1.0.0.tgz" }, /comes from http:/],
    ["a folder", { integrity, resolved: "file:../a" }, /comes from file:/],
    ["a link", { integrity, link: true }, /is a link/],
    ["no digest", { version: "1.0.0" }, /has no digest/],
    ["a weak digest", { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, /has a weak digest/],
    [
      "no digest, though it is for this system",
      { optional: true, os: ["linux"], cpu: ["x64"] },
      /has no digest/,
    ],
    [
      "a weak digest, for another system",
      { integrity: "sha1-x", optional: true, os: ["darwin"] },
      /has a weak digest/,
    ],
    ["a script of its own", { integrity, hasInstallScript: true }, /runs a script when it is installed/],
  ])("is refused with %s", (_, found, says) => {
    expect(lockOf(found)).toEqual([expect.stringMatching(says)]);
  });

  it("needs no digest of what comes within a package, or is for another system", () => {
    expect(lockOf({ inBundle: true })).toEqual([]);
    expect(lockOf({ optional: true, os: ["win32"], cpu: ["x64"] })).toEqual([]);
    expect(lockOf({ optional: true, os: ["linux"], cpu: ["x64"], libc: ["musl"] })).toEqual([]);
  });

  it("takes a link to a package of the repository's own, and no other", () => {
    const links = (resolved: string) =>
      problemsOf(
        {
          lockfileVersion: 3,
          packages: { "": {}, "packages/a": {}, "node_modules/a": { link: true, resolved } },
        },
        new Map(),
      );
    expect(links("packages/a")).toEqual([]);
    expect(links("packages/b")).toContain("node_modules/a: is a link; install it from the registry");
  });

  it("lets a named package run its script, under this name alone", () => {
    expect(lockOf({ integrity, hasInstallScript: true }, "node_modules/x/node_modules/esbuild")).toEqual([]);
    expect(lockOf({ integrity, hasInstallScript: true }, "node_modules/esbuild-wasm")).toHaveLength(1);
  });

  it.each([
    "^1.0.0",
    "~1.0.0",
    "*",
    "latest",
    "1.x",
    "git+https://example.com/a.git",
    "file:../a",
    "npm:b@1.0.0",
  ])("is refused where package.json asks for %s", (version) => {
    const manifests = new Map([["p/package.json", { ...nothingWanted, dependencies: { a: version } }]]);
    expect(problemsOf({ lockfileVersion: 3, packages: {} }, manifests)).toEqual([
      `p/package.json: a is asked for as ${version}; write the exact version`,
    ]);
  });
});
