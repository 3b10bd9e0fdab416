/** Escapes a text for a regular expression. Node 22, which commands support, lacks `RegExp.escape`. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Characters that separate or escape key parts, and the path segments `.` and `..`. */
const reserved = /[%/#]|^\.{1,2}$/g;

/**
 * Encodes an id or name as one part of a key, or of a message's subject, with the separators `/` or `#`. Only
 * `%`, `/`, `#` and the parts `.` and `..` are percent-encoded. The result is unique and contains no
 * separator, and `decodeURIComponent` restores the text.
 */
export function keyPart(text: string): string {
  return text.replace(reserved, percentEncoded);
}

function percentEncoded(characters: string): string {
  return Array.from(characters, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`).join("");
}
