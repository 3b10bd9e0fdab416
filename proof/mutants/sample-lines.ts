import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chance } from "../chaos/chance.ts";

/**
 * A share of the lines of some files, as Stryker names them: `<file>:<line>-<line>`. The same files give the same lines.
 * What spans several lines is in no sample.
 * @param files a pattern below `root` @param share 0 to 1
 */
export function sampleLines(root: string, files: string, share: number): readonly string[] {
  return globSync(files, { cwd: root })
    .toSorted()
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), "utf8").split("\n");
      return lines.flatMap((_, index) => {
        const line = index + 1;
        return chance(file, line) < share ? [`${file}:${line}-${line}`] : [];
      });
    });
}
