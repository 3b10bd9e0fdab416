import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Template, TemplateResource } from "../assembly/template.ts";
import { digestOfInputs, filesOf, notesOfInstalls, type Project } from "../synthesis/project.ts";

/** Debounce in milliseconds, since editors write a file in several steps. */
const quietMs = 100;

export type ProjectWatch = Disposable & {
  /** Resolves once something has changed since the last call, or since the watch began. */
  changed(): Promise<void>;
};

/**
 * Watches the inputs of a project's assembly: the files that `cdk.json` names, and the installed packages.
 */
export function watchProject(project: Project): ProjectWatch {
  const digest = () => digestOfInputs(project, {}, []);
  const named = project.watch?.include.map(folderOf) ?? [];
  const watchers = new Map<string, FSWatcher>();
  let seen = digest();
  let waiting: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    follow();
    const now = digest();
    if (waiting === undefined || now === seen) return;
    seen = now;
    waiting();
    waiting = undefined;
  };
  const follow = () => {
    const files = [...filesOf(project), ...notesOfInstalls].map((file) => dirname(file));
    const folders = new Set([".", ...named, ...files].map((each) => join(project.directory, each)));
    for (const folder of folders) {
      if (watchers.has(folder) || !existsSync(folder)) continue;
      const watcher = watch(folder, () => {
        clearTimeout(timer);
        timer = setTimeout(look, quietMs);
      });
      // A deleted folder is no longer watched; its parent reports the deletion.
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
    }
  };
  follow();
  return {
    changed: () =>
      new Promise((resolve) => {
        waiting = resolve;
        look();
      }),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function folderOf(pattern: string): string {
  const [plain = ""] = pattern.split(/[*?[{]/, 1);
  return plain === pattern ? dirname(pattern) : plain.slice(0, plain.lastIndexOf("/") + 1);
}

/** Function properties that can change without a restart. */
const replaceable: ReadonlySet<string> = new Set(["Code", "Environment"]);

/**
 * Finds the functions whose code or environment changed.
 * @returns logical ids; undefined if anything else changed, which needs a restart
 */
export function changedFunctions(before: Template, after: Template): readonly string[] | undefined {
  if (!isDeepStrictEqual(withoutCode(before), withoutCode(after))) return undefined;
  return Object.keys(after.Resources).filter(
    (id) => !isDeepStrictEqual(before.Resources[id], after.Resources[id]),
  );
}

function withoutCode({ Resources, ...others }: Template): unknown {
  const resources = Object.entries(Resources).map(([id, resource]) => [id, rest(resource)]);
  return { ...others, Resources: Object.fromEntries(resources) };
}

function rest(resource: TemplateResource): TemplateResource {
  if (resource.Type !== "AWS::Lambda::Function") return resource;
  const kept = Object.entries(resource.Properties).filter(([name]) => !replaceable.has(name));
  return { ...resource, Properties: Object.fromEntries(kept) };
}
