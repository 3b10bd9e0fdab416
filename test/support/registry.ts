import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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
      const dist = { tarball: `${url}${addressOf(each)}`, integrity };
      return [each.version, { ...manifest, dist }] as const;
    }),
  );
  const byVersion = (one: string, other: string) => one.localeCompare(other, "en", { numeric: true });
  const latest = versions
    .map(({ version }) => version)
    .toSorted(byVersion)
    .at(-1);
  return { name, "dist-tags": { latest }, versions: Object.fromEntries(described) };
}

/** Standard URL path of a tarball: yarn records any other in its lockfile. */
function addressOf({ name, version }: LockedPackage): string {
  return `${name.replace(/^.*\//, "")}-${version}.tgz`;
}

const making = new Map<string, Promise<Uint8Array>>();

function keptTarball(locked: LockedPackage, kept: string): Promise<Uint8Array> {
  const file = join(kept, `${locked.name.replace("/", "+")}-${locked.version}.tgz`);
  const made = making.get(file) ?? make(locked, file);
  making.set(file, made);
  return made;
}

const run = promisify(execFile);
const compress = promisify(gzip);
const deterministic = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];

/** Makes npm's tarball of an installed package, with the packages that it bundles and no others. */
async function make({ folder = "", manifest }: LockedPackage, file: string): Promise<Uint8Array> {
  if (existsSync(file)) return readFileSync(file);
  const bundles = "bundleDependencies" in manifest || "bundledDependencies" in manifest;
  const others = bundles ? "--exclude=./node_modules/.*" : "--exclude=./node_modules";
  const args = ["-cf", "-", "-C", folder, ...deterministic, "--format=ustar", others];
  const options = { encoding: "buffer", maxBuffer: 2 ** 30 } as const;
  const { stdout } = await run("tar", [...args, "--transform=s,^\\.,package,", "."], options);
  const contents = await compress(stdout, { level: 1 });
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
};

const folderOfAll = "node_modules/";

/**
 * All locked packages by name, including bundled ones: npm and pnpm take them from their package, yarn
 * requests them.
 */
function lockedPackages(repository: string): ReadonlyMap<string, readonly LockedPackage[]> {
  const lock = fieldsOf(JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")), "the lock");
  const packages = new Map<string, LockedPackage[]>();
  for (const [path, entry] of Object.entries(fieldsOf(lock.packages, "packages"))) {
    const at = path.lastIndexOf(folderOfAll);
    if (at < 0 || !isFields(entry) || entry.link === true) continue;
    const name = path.slice(at + folderOfAll.length);
    const version = String(entry.version);
    const others = packages.get(name) ?? [];
    if (others.some((other) => other.version === version)) continue;
    const folder = join(repository, path);
    const file = join(folder, "package.json");
    const installed = existsSync(file)
      ? { folder, manifest: fieldsOf(JSON.parse(readFileSync(file, "utf8")), file) }
      : { manifest: { name, ...entry } };
    packages.set(name, [...others, { name, version, ...installed }]);
  }
  return packages;
}
