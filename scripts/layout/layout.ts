/** A file of the repository; `path` is relative to its root, with "/" between folders. */
export type SourceFile = { readonly path: string; readonly text: string };

export const limits = { filesPerFolder: 25, topFolders: 13, linesPerFile: 300 };

/** Folders that may hold more files: one for each command, record or type of message. */
const longFolders = ["packages/cli/commands", "docs/adr", "docs/reference/schemas"];

const source = /\.(ts|tsx|js|mjs|cjs|css)$/;

/**
 * What in a repository hides where things are: too many folders at the top, too many files side by side, files that
 * are too long.
 * @returns a line for each, with the remedy
 */
export function layoutProblems(files: readonly SourceFile[]): readonly string[] {
  return [
    ...topFolderProblems(files.map(({ path }) => path)),
    ...folderProblems(files.map(({ path }) => path)),
    ...files.flatMap(lineProblems),
  ];
}

function topFolderProblems(paths: readonly string[]): readonly string[] {
  const inFolders = paths.filter((path) => path.includes("/"));
  const folders = new Set(inFolders.map((path) => path.slice(0, path.indexOf("/"))));
  const shown = [...folders].filter((folder) => !folder.startsWith(".")).toSorted();
  if (shown.length <= limits.topFolders) return [];
  return [
    `${shown.length} folders at the top, over ${limits.topFolders} (${shown.join(", ")}): ` +
      "move what serves the pipeline into packages/, proof/ or scripts/",
  ];
}

function folderProblems(paths: readonly string[]): readonly string[] {
  const byFolder = Map.groupBy(paths, (path) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  return [...byFolder]
    .filter(([folder, side]) => side.length > limits.filesPerFolder && !longFolders.includes(folder))
    .map(
      ([folder, side]) =>
        `${folder === "" ? "the root" : folder}: ${side.length} files side by side, over ${limits.filesPerFolder}: ` +
        "move those of one concern into a folder of its name",
    );
}

/** Counts what the linter does not: it takes a comment or a text of several lines for one. */
function lineProblems({ path, text }: SourceFile): readonly string[] {
  if (!source.test(path)) return [];
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines <= limits.linesPerFile) return [];
  return [`${path}: ${lines} lines, over ${limits.linesPerFile}: move one concern into a file of its name`];
}
