import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);

/** The file that npm installs for a folder: the same bytes each time. @param isLeftOut by a path below the folder */
export function tarballOf(folder: string, isLeftOut: (path: string) => boolean): Promise<Uint8Array> {
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

/** Names that begin with a dot, too. */
function filesIn(folder: string, below: string, isLeftOut: (path: string) => boolean): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = `${below}${entry.name}`;
    if (isLeftOut(path)) return [];
    return entry.isDirectory() ? filesIn(folder, `${path}/`, isLeftOut) : [path];
  });
}
