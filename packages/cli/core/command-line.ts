/**
 * Writes a command for a person to copy: `` commandLine`npx income-events events show ${id}` ``. A POSIX
 * shell passes each value as one argument, whatever its characters; a list becomes several arguments.
 */
export function commandLine(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string {
  return String.raw({ raw: parts }, ...values.map((value) => [value].flat().map(quoted).join(" ")));
}

/** A leading `=` is quoted, because zsh would look up a program by that name. */
function quoted(argument: string | number): string {
  const text = String(argument);
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
