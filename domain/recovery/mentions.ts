import { escapePattern } from "../core/escape-pattern.ts";
import { canonicalId, isUuid } from "../event/canonical-id.ts";
import type { WebhookKind } from "../event/events.ts";
import { nameOf, type Subject } from "../event/subjects.ts";

/** Shorter ids may be part of anything, and so may words: they count only where JSON or a name sets them off. */
const unmistakable = /^(?=.*\d).{8,}$/s;
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
function textMentions(subject: Subject): (text: string) => boolean {
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

/**
 * Whether a text names one of some subjects.
 * @param about the kind of the webhook whose body it is: it says whom a bare `id` identifies
 */
export type Mentions = (text: string, about?: WebhookKind) => boolean;

/** A value on its way through JSON: under which name it stands, and of whom that and the names above it speak. */
type Visited = {
  readonly value: unknown;
  readonly name: string;
  readonly kinds: Kinds;
  readonly inTexts: number;
};
/** Undefined: of anybody. */
type Kinds = readonly Subject["kind"][] | undefined;

/** What stands under these names is a word of a protocol, never an id. */
const namesOfWords =
  /^(kind|type|as|of|task|cause|outcome|action|event|endpoint|codec|pk|sk|next|source|specversion|event(Name|Source|Version|ID)|awsRegion|datacontenttype)$/;
const namesOfIds = /id$|uuid|user|account|compan|person|customer|client|subject|owner/i;
/** Few digits may be any number: they count only where an id is expected. */
const fewDigits = /^\d{1,7}$/;
const subjectKinds = ["user", "account", "company-account"] as const;
const attributeTypes: ReadonlySet<string> = new Set(["S", "N", "M", "L", "SS", "NS"]);
/** JSON within a text within JSON: a body in an envelope in a stream's record in what Lambda gave up on. */
const deepestText = 8;

/**
 * Asks whether texts name one of some subjects. Of JSON the decoded values are compared, so that it does not matter how
 * an id is written: `"7"`, 7, `"\u0037"`, a UUID in upper case, a part of a name such as `account/<id>/income`, or JSON
 * within a text. A name that says of whom it speaks (`user_id`) names nobody else. Other texts are searched.
 * @param namesFor further names of a subject, such as the key of its partition
 */
export function mentions(
  subjects: readonly Subject[],
  namesFor: (subject: Subject) => readonly string[] = () => [],
): Mentions {
  if (subjects.length === 0) return () => false;
  const sought = subjects.map((subject) => ({
    subject,
    id: canonicalId(subject.id),
    name: nameOf(subject),
    keys: namesFor(subject),
    isInText: textMentions(subject),
  }));
  const isNamedBy = ({ value, name, kinds }: Visited) =>
    sought.some(({ subject, id, name: own, keys, isInText }) => {
      const text = String(value);
      if (isName(text, own) || keys.includes(text)) return true;
      if (kinds !== undefined && !kinds.includes(subject.kind)) return false;
      return canonicalId(text) === id ? mayBeId(text, name) : typeof value === "string" && isInText(text);
    });
  const isInAny = (text: string) => sought.some(({ isInText }) => isInText(text));
  return (text, about) => {
    const whole = parsed(text);
    if (whole === undefined) return isInAny(text);
    // A number that JSON.parse would round is compared as it is written.
    if (sought.some(({ id, isInText }) => isLongNumberIn(text, id) && isInText(text))) return true;
    const root = { value: whole.value, name: "", kinds: undefined, inTexts: 0 };
    return someValue(root, about, { isWanted: isNamedBy, isInText: isInAny });
  };
}

/** Looks at values with a list of its own: nesting has no limit, and ends no process. */
function someValue(
  first: Visited,
  about: WebhookKind | undefined,
  { isWanted, isInText }: { isWanted: (visited: Visited) => boolean; isInText: (text: string) => boolean },
): boolean {
  const waiting: Visited[] = [first];
  for (let visited = waiting.pop(); visited !== undefined; visited = waiting.pop()) {
    const { value, name, kinds, inTexts } = visited;
    if (typeof value === "number" || typeof value === "string") {
      if (isWanted({ ...visited, kinds: kinds ?? kindsOfBareId(name, about) })) return true;
      const inner = typeof value === "string" && inTexts < deepestText ? parsed(value) : undefined;
      if (typeof inner?.value === "object")
        waiting.push({ value: inner.value, name, kinds, inTexts: inTexts + 1 });
    } else if (Array.isArray(value)) {
      for (const element of value) waiting.push({ ...visited, value: element });
    } else if (typeof value === "object" && value !== null) {
      const members = Object.entries(value);
      // A name may be an id, too, where it can be nothing else.
      if (members.some(([key]) => isInText(key))) return true;
      for (const [key, member] of members) {
        const isAttribute = members.length === 1 && attributeTypes.has(key);
        if (isAttribute) waiting.push({ ...visited, value: member });
        else {
          const said = key === "id" ? kindBeside(value) : undefined;
          waiting.push({ value: member, name: key, kinds: said ?? kindsOfName(key) ?? kinds, inTexts });
        }
      }
    }
  }
  return false;
}

function mayBeId(text: string, name: string): boolean {
  if (unmistakable.test(text)) return true;
  return fewDigits.test(text) ? namesOfIds.test(name) : !namesOfWords.test(name);
}

/** A name, or one that goes on from it: `account/<id>`, `account/<id>/income`. An id in a name has no such character. */
function isName(text: string, name: string): boolean {
  return text.startsWith(name) && (text.length === name.length || text.charAt(name.length) === "/");
}

function kindsOfName(name: string): Kinds {
  if (/compan/i.test(name)) return ["company-account"];
  // Company accounts are called accounts, too.
  if (/account/i.test(name)) return ["account", "company-account"];
  return /user/i.test(name) ? ["user"] : undefined;
}

/** Whether digits stand in JSON as a number, and are more than a number keeps. */
function isLongNumberIn(text: string, id: string): boolean {
  return /^\d{16,}$/.test(id) && new RegExp(`(^|[:,[])\\s*${id}\\s*([,\\]}]|$)`).test(text);
}

/** A subject as our own code writes it says itself whom its id identifies. */
function kindBeside(value: object): Kinds {
  const kind = "kind" in value ? subjectKinds.find((each) => each === value.kind) : undefined;
  return kind && [kind];
}

function kindsOfBareId(name: string, about: WebhookKind | undefined): Kinds {
  if (!/^(id|uuid)$/i.test(name) || about === undefined || about === "endpoints") return undefined;
  return kindsOfName(about);
}

/** @returns undefined where the text is no JSON */
function parsed(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*[[{"\d-]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    return undefined;
  }
}
