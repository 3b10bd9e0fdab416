/** Maximum size of a token in bytes. A longer text is not a token. */
export const maxTokenBytes = 16_384;

/** Whether a text has the form of a token: visible ASCII without spaces. The provider validates it. */
export function hasTokenForm(text: string): boolean {
  return text.length <= maxTokenBytes && /^[\x21-\x7e]+$/.test(text);
}

/** A version of the token secret. Without a token, it is the placeholder that the deployment created. */
export type TokenVersion = {
  readonly versionId: string;
  readonly token: string | undefined;
  /** The version whose token this one was refreshed from. Absent if an operator set it. */
  readonly replaces?: string;
};
