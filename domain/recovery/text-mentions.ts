import { escapePattern } from "../core/escape-pattern.ts";
import { isUuid } from "../event/canonical-id.ts";
import { nameOf, type Subject } from "../event/subjects.ts";

/** Shorter ids may be part of anything, and so may words: they count only where JSON or a name sets them off. */
export const unmistakable = /^(?=.*\d).{8,}$/s;
/** How far before an id the text may say whose it is. */
const contextLength = 40;
const wordsBefore = /["'](kind|type|as|of|task|cause|action|event|endpoint)["']\s*:\s*["']?$/;

const kindsBefore: readonly (readonly [RegExp, readonly Subject["kind"][]])[] = [
  [/compan[\w-]*["']?\s*[/#:=]\s*["']?$/i, ["company-account"]],
  [/account[\w-]*["']?\s*[/#:=]\s*["']?$/i, ["account", "company-account"]],
  [/user[\w-]*["']?\s*[/#:=]\s*["']?$/i, ["user"]],
];

/**
 * Searches what is no JSON for a subject's id, as it is and as JSON escapes it. An id within a longer one is none, and
 * where the text before it says of whom it speaks (`user_id=`, `/accounts/`) it names nobody else.
 */
export function textMentions(subject: Subject): (text: string) => boolean {
  const { id } = subject;
  const forms = [
    ...new Set([id, JSON.stringify(id).slice(1, -1), nameOf(subject).slice(subject.kind.length + 1)]),
  ];
  const any = forms.map(escapePattern).join("|");
  const pattern = unmistakable.test(id)
    ? `(?<![\\w-])(?:${any})(?![\\w-])`
    : `(?<=["/])(?:${any})(?=["/\\\\])`;
  const ids = new RegExp(pattern, isUuid(id) ? "gi" : "g");
  const isIn = (text: string) =>
    Array.from(text.matchAll(ids)).some(({ index }) =>
      mayName(subject, text.slice(Math.max(0, index - contextLength), index)),
    );
  return (text) => isIn(text) || (text.includes("\\") && isIn(unescaped(text)));
}

function mayName({ kind }: Subject, before: string): boolean {
  if (wordsBefore.test(before)) return false;
  const [, kinds] = kindsBefore.find(([pattern]) => pattern.test(before)) ?? [];
  return kinds === undefined || kinds.includes(kind);
}

function unescaped(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("\\/", "/")
    .replaceAll('\\"', '"');
}
