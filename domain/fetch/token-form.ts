/** Maximum size of a token in bytes. A longer text is not a token. */
export const maxTokenBytes = 16_384;

/** Whether a text has the form of a token: visible ASCII without spaces. The provider validates it. */
export function hasTokenForm(text: string): boolean {
  return text.length <= maxTokenBytes && /^[\x21-\x7e]+$/.test(text);
}
