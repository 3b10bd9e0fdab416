import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { type LockedPackage, lockedPackages } from "./locked-packages.ts";
import { tarballOf } from "./tarball.ts";

/** A package registry on this machine, for installs that ask nobody else. */
export type Registry = AsyncDisposable & {
  readonly url: string;
  /** Names that were asked for and are not locked. */
  readonly unknown: () => readonly string[];
};

/**
 * Serves the packages that `package-lock.json` names, made of what `npm ci` has installed.
 * @param kept a folder for the files that were made, which takes seconds
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

/** What npm asks first: all versions, and where each is. */
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

/** As every registry has it: yarn notes any other in its lockfile. */
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
  // Whole or not at all: others may do the same at this moment.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, file);
  return contents;
}
