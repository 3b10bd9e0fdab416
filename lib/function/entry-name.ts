/** Name of a function in log lines: `store/users` for `functions/store/users.ts`. */
export function nameOf(entry: string): string {
  return entry.replace(/^functions\//, "").replace(/\.ts$/, "");
}
