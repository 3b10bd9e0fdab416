/** Escapes a text for a regular expression. Node 22, which commands support, lacks `RegExp.escape`. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
