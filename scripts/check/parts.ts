/** One thing that `npm run check` looks at, by a program that exits 0 where it is well. */
export type Part = {
  readonly name: string;
  /** A program of `node_modules/.bin`, or a file of the repository that Node runs; then its arguments. */
  readonly run: readonly [program: string, ...args: string[]];
  /** What to do where it fails. */
  readonly remedy: string;
};

/** All of them, the longest first: two run at once. */
export const parts: readonly Part[] = [
  {
    name: "types",
    run: ["tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", ".local/types.tsbuildinfo"],
    remedy: "fix the types",
  },
  {
    name: "synth",
    run: ["cdk", "synth", "--quiet"],
    remedy:
      "narrow what was found, or say why it stands: lib/acknowledgements.ts, lib/function/permissions.ts",
  },
  {
    name: "lint",
    run: ["biome", "check", "--error-on-warnings", "."],
    remedy: "`npm run format` fixes what it can",
  },
  {
    name: "docs",
    run: ["scripts/documents/main.ts", "--check"],
    remedy: "`npm run docs` writes what is stale; what would break subscribers needs a new type of message",
  },
  {
    name: "baseline",
    run: ["vitest", "run", "test/lib/baseline.int.test.ts"],
    remedy: "keep what holds data; docs/operate/upgrading.md names every other change, as the test says",
  },
  {
    name: "dead-code",
    run: ["knip"],
    remedy:
      "delete what nothing uses; declare each dependency in the package.json of the folder that imports it",
  },
  {
    name: "conformance",
    run: ["proof/conformance/main.ts", "--listed"],
    remedy: "docs/reference/sandbox-conformance.md needs a row for each statement, with tests that exist",
  },
  {
    name: "page-types",
    run: ["tsc", "--noEmit", "-p", "packages/console/page"],
    remedy: "fix the types of the console's page",
  },
  {
    name: "layout",
    run: ["scripts/layout/main.ts"],
    remedy: "move or split what is named; CONTRIBUTING.md says where things are",
  },
  {
    name: "licences",
    run: ["scripts/licences/main.ts"],
    remedy: "choose another package, or allow its licence in scripts/licences",
  },
  {
    name: "lockfile",
    run: ["scripts/lockfile/main.ts"],
    remedy: "write exact versions, and `npm install` from the registry",
  },
];
