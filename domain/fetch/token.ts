import { fieldsOf, optionalText, parseJson, present } from "../core/parse.ts";

/** A version of the token secret. Without a token, it is the placeholder that the deployment created. */
export type TokenVersion = {
  readonly versionId: string;
  readonly token: string | undefined;
  /** The version whose token this one was refreshed from. Absent if an operator set it. */
  readonly replaces?: string;
};

/** Reads `{"token": "<JWT>", "replaces": "<version>"}`. The placeholder has no token, until an operator sets one. */
export function parseTokenSecret(text: string, versionId: string): TokenVersion {
  const fields = fieldsOf(parseJson(text, "the token secret"), "the token secret");
  const replaces = optionalText(fields, "replaces");
  return { versionId, token: optionalText(fields, "token"), ...present({ replaces }) };
}
