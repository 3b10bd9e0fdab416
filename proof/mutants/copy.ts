import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A copy of the project in which code is changed; the project itself never is. */
export type Copy = Disposable & {
  readonly directory: string;
  /** Changes what stands in a file exactly once. @returns puts it back @throws where it does not */
  readonly change: (file: string, code: string, instead: string) => () => void;
};

/** Copies what git knows of, and what is new; packages are linked. */
export function copyProject(root: string): Copy {
  const directory = mkdtempSync(join(tmpdir(), "mutants-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 100_000_000,
  });
  for (const file of listed.split("\0")) {
    if (file === "" || !existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    copyFileSync(join(root, file), join(directory, file));
  }
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  return {
    directory,
    change: (file, code, instead) => {
      const path = join(directory, file);
      const before = readFileSync(path, "utf8");
      writeFileSync(path, changed(before, code, instead, file));
      return () => writeFileSync(path, before);
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** A text with one place of it changed. @throws where the place is not there, or there twice */
export function changed(text: string, code: string, instead: string, file: string): string {
  const [before, after, ...more] = text.split(code);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file}: has this ${more.length === 0 ? "nowhere" : "more than once"}: ${code}`);
  }
  return `${before}${instead}${after}`;
}
