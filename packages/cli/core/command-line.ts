/**
 * Writes a command for a person to copy: `` commandLine`npx income-events events show ${id}` ``. A POSIX shell passes each
 * value on as one argument, whatever characters it has; a list is several arguments.
 */
export function commandLine(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string {
  return String.raw({ raw: parts }, ...values.map((value) => [value].flat().map(quoted).join(" ")));
}

/** `=` is quoted at the beginning, where zsh reads it as the name of a program. */
function quoted(argument: string | number): string {
  const text = String(argument);
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
