import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const block = 512;
const compress = promisify(gzip);

/** The file that npm installs for a folder: the same bytes each time. @param isLeftOut by a path below the folder */
export async function tarballOf(folder: string, isLeftOut: (path: string) => boolean): Promise<Uint8Array> {
  const files = filesIn(folder, "", isLeftOut);
  const parts = files.sort().flatMap((path) => {
    const file = join(folder, path);
    const contents = readFileSync(file);
    const isProgram = (statSync(file).mode & 0o111) !== 0;
    const padding = Buffer.alloc((block - (contents.length % block)) % block);
    return [headerOf(`package/${path}`, contents.length, isProgram), contents, padding];
  });
  return compress(Buffer.concat([...parts, Buffer.alloc(2 * block)]), { level: 1 });
}

/** Names that begin with a dot, too. */
function filesIn(folder: string, below: string, isLeftOut: (path: string) => boolean): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = `${below}${entry.name}`;
    if (isLeftOut(path)) return [];
    return entry.isDirectory() ? filesIn(folder, `${path}/`, isLeftOut) : [path];
  });
}

/** Of the format ustar, which splits long names in two. */
function headerOf(path: string, size: number, isProgram: boolean): Uint8Array {
  const header = Buffer.alloc(block);
  const { prefix, name } = split(path);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(isProgram ? 0o755 : 0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function split(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  const at = path.indexOf("/", path.length - 101);
  if (at < 0 || at > 155) throw new Error(`the name is too long for a tarball: ${path}`);
  return { prefix: path.slice(0, at), name: path.slice(at + 1) };
}
