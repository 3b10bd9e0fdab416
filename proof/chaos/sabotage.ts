import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Deliberately broken pipelines, to test that a run notices. `key` gives events another key each second, so that the
 * store takes a later receipt for a new event: this must cause duplicates. `delete-first` deletes the store's messages
 * before they are written, and does not write each third batch, as an environment that is never thawed: this must lose
 * some.
 */
export const sabotages = ["key", "delete-first"] as const;
export type Sabotage = (typeof sabotages)[number];

/** A text that only the store's bundles contain. */
const storesOnly = "event contended";
/** Prefix of events' keys. */
const prefix = '"EVENT#"';
const anotherEachSecond = '{toString:()=>"EVENT#"+Math.floor(Date.now()/1e3)}';

/** Answers before writing any message: Lambda then deletes them. */
const answeringFirst = `import { handler as write } from "./original.mjs";
let batches = 0;
export const handler = async (event, context) => {
  batches += 1;
  if (batches % 3 !== 0) write(event, context).catch(() => undefined);
  return { batchItemFailures: [] };
};
`;

/**
 * Creates a broken copy of an assembly.
 * @param directory target, which must not exist yet
 */
export function sabotaged(assembly: string, directory: string, sabotage: Sabotage): string {
  cpSync(assembly, directory, { recursive: true });
  const bundles = readdirSync(directory).map((name) => join(directory, name, "index.mjs"));
  const stores = bundles.filter(
    (file) => existsSync(file) && readFileSync(file, "utf8").includes(storesOnly),
  );
  if (stores.length === 0) throw new Error("No bundle is the store's: see proof/chaos/sabotage.ts");
  for (const file of stores) breakBundle(file, sabotage);
  return directory;
}

function breakBundle(file: string, sabotage: Sabotage): void {
  switch (sabotage) {
    case "key": {
      const sound = readFileSync(file, "utf8");
      if (!sound.includes(prefix))
        throw new Error("No bundle has the events' keys: see proof/chaos/sabotage.ts");
      writeFileSync(file, sound.replaceAll(prefix, anotherEachSecond));
      return;
    }
    case "delete-first":
      renameSync(file, join(file, "..", "original.mjs"));
      writeFileSync(file, answeringFirst);
      return;
  }
}
