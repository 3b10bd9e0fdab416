/** What would end a part of a key, begin the writing of such a character, or be taken for a step up in a path. */
const reserved = /[%/#]|^\.{1,2}$/g;

/**
 * An id or a name as a part of a key that joins its parts with `/` or `#`, or of a message's subject: `%`, `/` and `#`
 * are percent-encoded, other characters stay as they are. Different texts give different parts, no part contains what
 * joins it, and `decodeURIComponent` gives the text back.
 */
export function keyPart(text: string): string {
  return text.replace(reserved, percentEncoded);
}

function percentEncoded(characters: string): string {
  return Array.from(characters, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`).join("");
}
