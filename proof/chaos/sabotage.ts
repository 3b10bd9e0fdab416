import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Pipelines that are broken on purpose, to see that a run notices: `key` gives each receipt a key of its own, which no
 * condition of the store's writes refuses, and must lead to duplicates; `delete-first` lets the store's messages be deleted before they are written,
 * which must lose some.
 */
export const sabotages = ["key", "delete-first"] as const;
export type Sabotage = (typeof sabotages)[number];

/** What only the bundles of the store hold. */
const storesOnly = "event contended";
/** What the keys of events begin with. */
const prefix = '"EVENT#"';
const anotherEachTime = '{toString:()=>"EVENT#"+Math.random()}';

/** Answers for all messages before any is written: Lambda deletes them then. */
const answeringFirst = `import { handler as write } from "./original.mjs";
export const handler = async (event, context) => {
  write(event, context).catch(() => undefined);
  return { batchItemFailures: [] };
};
`;

/** A broken copy of an assembly. @param directory where it is put; it must not exist yet */
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
      writeFileSync(file, sound.replaceAll(prefix, anotherEachTime));
      return;
    }
    case "delete-first":
      renameSync(file, join(file, "..", "original.mjs"));
      writeFileSync(file, answeringFirst);
      return;
  }
}
