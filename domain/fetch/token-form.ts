/** Over any token: what is longer is something else. */
export const maxTokenBytes = 16_384;

/** Whether a text can be sent as a token at all: one word of visible ASCII. What it says is the provider's business. */
export function hasTokenForm(text: string): boolean {
  return text.length <= maxTokenBytes && /^[\x21-\x7e]+$/.test(text);
}
