/** For a regular expression that is to find a text as it is. `RegExp.escape` is not in Node 22, which the commands run on too. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
