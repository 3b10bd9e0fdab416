import { createHash } from "node:crypto";
import { keyPart } from "../core/escaping.ts";
import { canonicalId, type Subject } from "./subjects.ts";

/** Hexadecimal digits of a digest: short, and two of 100 million ids share one with a probability of 0.03 %. */
const digits = 16;

/** The table's index of subjects by `loggedName`. Only states have the attribute. */
export const loggedNameIndex = { name: "LoggedNames", attribute: "loggedAs" } as const;

/**
 * The name of a subject in logs: `account/<digest>`. Lines can't be erased, so they contain no id. The table has an
 * index by this name.
 */
export function loggedName({ kind, id }: Subject): string {
  return `${kind}/${digestOf(keyPart(id))}`;
}

/** The text that logs have in place of an id, or of a subject's name such as `account/<id>/income`. */
export function loggedText(text: string): string {
  const [, kind, id] = /^(user|account|company-account)\/([^/]+)/.exec(text) ?? [];
  return kind === undefined || id === undefined
    ? digestOf(keyPart(canonicalId(text)))
    : `${kind}/${digestOf(canonicalId(id))}`;
}

/** The beginning of the SHA-256 digest of an id. */
function digestOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, digits);
}
