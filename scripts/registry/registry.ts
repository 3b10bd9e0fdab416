import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { fieldsOf, isFields } from "../../domain/core/parse.ts";

/** A local package registry, for offline installs. */
export type Registry = AsyncDisposable & {
  readonly url: string;
  /** Requested names that are not in the lockfile. */
  readonly unknown: () => readonly string[];
};

/**
 * Serves the packages in `package-lock.json` from what `npm ci` installed.
 * @param kept folder that caches the tarballs, which take seconds to create
 */
export async function startRegistry(repository: string, kept: string): Promise<Registry> {
  const packages = lockedPackages(repository);
  const unknown = new Set<string>();
  mkdirSync(kept, { recursive: true });
  const server = createServer((request, response) => {
    const [name = "", file] = decodeURIComponent(request.url ?? "/")
      .slice(1)
      .split("/-/");
    const versions = packages.get(name);
    if (versions === undefined) {
      unknown.add(name);
      response.writeHead(404).end("{}");
      return;
    }
    answer(response, file).catch((error: unknown) => response.writeHead(500).end(String(error)));
    async function answer(to: ServerResponse, wanted: string | undefined): Promise<void> {
      const url = `http://${request.headers.host}/${name}/-/`;
      if (wanted === undefined)
        return void to.end(JSON.stringify(await listing(name, versions ?? [], { kept, url })));
      const found = versions?.find((each) => addressOf(each) === wanted);
      if (found?.folder === undefined) return void to.writeHead(404).end();
      to.end(await keptTarball(found, kept));
    }
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    unknown: () => [...unknown],
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** Response to npm's first request: all versions with their URLs. */
async function listing(
  name: string,
  versions: readonly LockedPackage[],
  { kept, url }: { readonly kept: string; readonly url: string },
): Promise<object> {
  const described = await Promise.all(
    versions.map(async (each) => {
      const contents = each.folder === undefined ? new Uint8Array() : await keptTarball(each, kept);
      const integrity = `sha512-${createHash("sha512").update(contents).digest("base64")}`;
      const { scripts: _scripts, ...manifest } = each.manifest;
      return [
        each.version,
        { ...manifest, dist: { tarball: `${url}${addressOf(each)}`, integrity } },
      ] as const;
    }),
  );
  const latest = versions
    .map(({ version }) => version)
    .sort(byVersion)
    .at(-1);
  return { name, "dist-tags": { latest }, versions: Object.fromEntries(described) };
}

function byVersion(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

/** Standard URL path of a tarball: yarn records any other in its lockfile. */
function addressOf({ name, version }: LockedPackage): string {
  return `${name.replace(/^.*\//, "")}-${version}.tgz`;
}

function fileOf({ name, version }: LockedPackage): string {
  return `${name.replace("/", "+")}-${version}.tgz`;
}

const making = new Map<string, Promise<Uint8Array>>();

function keptTarball(locked: LockedPackage, kept: string): Promise<Uint8Array> {
  const file = join(kept, fileOf(locked));
  const made = making.get(file) ?? make(locked, file);
  making.set(file, made);
  return made;
}

async function make({ folder = "", isAnother }: LockedPackage, file: string): Promise<Uint8Array> {
  if (existsSync(file)) return readFileSync(file);
  const contents = await tarballOf(folder, isAnother);
  // Renamed into place, since other processes may do the same.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, file);
  return contents;
}

/** A package version in `package-lock.json`. */
type LockedPackage = {
  readonly name: string;
  readonly version: string;
  /** Installation folder; absent: it is for another platform. */
  readonly folder?: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Whether a path below the folder is a separate package that npm nested there. */
  readonly isAnother: (path: string) => boolean;
};

const folderOfAll = "node_modules/";

/**
 * All locked packages by name, including bundled ones: npm and pnpm take them from their package, yarn
 * requests them.
 */
function lockedPackages(repository: string): ReadonlyMap<string, readonly LockedPackage[]> {
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
      // Scope folders are searched.
      if (inside === "" || /^@[^/]+$/.test(inside)) return below.startsWith("node_modules/.");
      return !bundled.has(`${path}/${folderOfAll}${inside}`);
    },
  };
}

const compress = promisify(gzip);

/**
 * Deterministic npm tarball of a folder.
 * @param isLeftOut by path below the folder
 */
function tarballOf(folder: string, isLeftOut: (path: string) => boolean): Promise<Uint8Array> {
  const same = ["--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--format=ustar"];
  const args = [
    "-cf",
    "-",
    ...same,
    "--transform=s,^,package/,",
    "--null",
    "--verbatim-files-from",
    "-T",
    "-",
  ];
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, encoding: "buffer", maxBuffer: 2 ** 30 } as const;
    const tar = execFile("tar", args, options, (error, contents) =>
      error === null ? resolve(compress(contents, { level: 1 })) : reject(error),
    );
    tar.stdin?.end(filesIn(folder, "", isLeftOut).sort().join("\0"));
  });
}

/** Includes names that begin with a dot. */
function filesIn(folder: string, below: string, isLeftOut: (path: string) => boolean): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = `${below}${entry.name}`;
    if (isLeftOut(path)) return [];
    return entry.isDirectory() ? filesIn(folder, `${path}/`, isLeftOut) : [path];
  });
}
