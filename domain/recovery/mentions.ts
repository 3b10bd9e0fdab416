import type { WebhookKind } from "../event/events.ts";
import { isRawNumber, parseExact } from "../event/lossless-json.ts";
import { canonicalId, escapePattern, isUuid, nameOf, type Subject } from "../event/subjects.ts";
import { encodedTexts } from "./encoded-texts.ts";

/**
 * Shorter ids and plain words may be part of anything, so they count only if JSON or a field name delimits
 * them.
 */
const unmistakable = /^(?=.*\d).{8,}$/s;
/** Maximum distance between an id and the name of its field before it. */
const contextLength = 40;
const nameBefore = /([\w.[\]-]+?)["']?\s*([/#:=_-])\s*["']?$/;

/** A word that indicates an id, as in `user_<id>` and `account-<id>`. */
const whose = "(?i:user|account|customer|client|person|owner|holder|employee|member|applicant)_?(?i:id)?";
/** Delimiters of an id that is not a UUID. Any other adjacent character belongs to a longer id. */
const before = `(?<=^|[\\s\\x00-\\x1f"'\`/=:#([{<>,;|&?!*~$]|(?:^|[^A-Za-z0-9])${whose}[_-])`;
const after = `(?=$|[\\s\\x00-\\x1f"'\`/=:#)\\]}<>,;|&?!*~$\\\\]|\\.(?:\\s|$))`;
/** The same delimiters in a nested URL, where `/` is `%2F` or `%252F`. */
const encoded = "%(?:25)*(?:0[9ADad]|2[0236789CFcf]|3[A-Fa-f]|5[BCDbcd]|7[BCDbcd])";
const encodedBefore = `(?<=${encoded})`;
const encodedAfter = `(?=${encoded}|[&\\s"']|$)`;

/**
 * Searches text that is not JSON for a subject's id: as is, as escaped in JSON or a URL, and a UUID in either
 * case and without dashes. Part of a longer id does not match.
 */
function textMentions(subject: Subject): (text: string) => boolean {
  const { id } = subject;
  const ids = patternOf(id, formsOf(subject).map(escapePattern).join("|"));
  const isIn = (text: string) =>
    Array.from(text.matchAll(ids)).some(({ 0: found, index }) =>
      mayName(subject, found, text.slice(Math.max(0, index - contextLength), index)),
    );
  return (text) => isIn(text) || (text.includes("\\") && isIn(unescaped(text)));
}

function formsOf(subject: Subject): readonly string[] {
  const { id } = subject;
  const escaped = [nameOf(subject).slice(subject.kind.length + 1), ...urlForms(id)];
  const lowerCase = escaped.map((form) => form.replace(/%../g, (hex) => hex.toLowerCase()));
  return [...new Set([id, JSON.stringify(id).slice(1, -1), ...escaped, ...lowerCase])];
}

/** A query encodes a space as `+`, a path as `%20`. */
function urlForms(id: string): readonly string[] {
  return id.isWellFormed() ? [encodeURIComponent(id), new URLSearchParams({ id }).toString().slice(3)] : [];
}

function patternOf(id: string, any: string): RegExp {
  if (isUuid(id)) {
    const digits = id.replaceAll("-", "-?");
    // A word next to a UUID does not make it another id: `user_<id>`, `<id>-income.pdf`.
    const start = "(?:(?<![\\w-])|(?<=(?:^|[^A-Z0-9])[A-Z]+[_-])|(?<=%(?:25)*[0-9A-F]{2}))";
    return new RegExp(`${start}${digits}(?:(?![\\w-])|(?=[_-][A-Z]+(?![\\w-])))`, "gi");
  }
  if (unmistakable.test(id))
    return new RegExp(`${before}(?:${any})${after}|${encodedBefore}(?:${any})${encodedAfter}`, "g");
  const quoted = `(?<=["/=])(?:${any})(?=["/\\\\]|[&;\\s]|$)`;
  // Also match a JSON number that is truncated or followed by others.
  return new RegExp(fewDigits.test(id) ? `${quoted}|(?<="\\s*:\\s*)${any}(?=[\\s,}\\]]|$)` : quoted, "g");
}

/** Whether an id in a text may be the subject's, given the field name before it. */
function mayName({ kind, id }: Subject, found: string, textBefore: string): boolean {
  const [, name, sign] = nameBefore.exec(textBefore) ?? [];
  if (name === undefined || isUuid(id)) return true;
  if (kindsOfName(name)?.includes(kind) === false) return false;
  if (sign === "=" && !unmistakable.test(id)) return namesOfIds.test(name);
  return mayBeId(found, name);
}

function unescaped(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("\\/", "/")
    .replaceAll('\\"', '"');
}

/**
 * Whether a text mentions one of the subjects.
 * @param about the kind of the webhook whose body it is, which tells whom a bare `id` identifies
 */
export type Mentions = (text: string, about?: WebhookKind) => boolean;

/** A value in JSON, with its field name and the kinds of subjects that the name can identify. */
type Visited = {
  readonly value: unknown;
  readonly name: string;
  readonly kinds: Kinds;
  readonly inTexts: number;
  /** Whether the value is a text of JSON, whose own values are visited, too. */
  readonly isJson?: boolean;
};
/** Undefined: any kind. */
type Kinds = readonly Subject["kind"][] | undefined;

/** Values with these names are protocol words, never ids. */
const namesOfWords =
  /^(kind|type|as|of|task|cause|outcome|action|event|endpoint|codec|pk|sk|next|source|specversion|event(Name|Source|Version|ID)|awsRegion|datacontenttype)$/;
const namesOfIds =
  /id$|uuid|user|account|compan|person|people|customer|client|subject|owner|holder|belong|member|parent|employee|applicant|^sub$/i;
const namesOfCounts = /number|(?<!ac)count|total|amount|sum$|limit/i;
/** Few digits may be any number, so they count only where an id is expected. */
const fewDigits = /^\d{1,7}$/;
const subjectKinds = ["user", "account", "company-account"] as const;
const attributeTypes: ReadonlySet<string> = new Set(["S", "N", "M", "L", "SS", "NS"]);
/**
 * Maximum depth of JSON in strings, such as a body in an envelope in a stream record in a failed Lambda
 * invocation.
 */
const deepestText = 8;
/** A text that decodes to more characters may hide something, so it counts as a mention. */
const decodedPerCharacter = 16;
const leastDecoded = 16 * 1024 * 1024;

/**
 * Creates a check whether a text mentions one of some subjects, under any field name. JSON values are
 * compared after decoding, so that the notation does not matter: `"7"`, 7, `"\u0037"`, a UUID in upper case,
 * a name such as `account/<id>/income`, nested JSON, or base64 and other encodings. Other text is searched. A
 * user and an account may share an id that is not a UUID; then the contract's field names (`user_id`,
 * `account_id`) decide.
 * @param namesFor further names of a subject, such as its partition key
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
  const isNamedBy = ({ value, name, kinds, isJson }: Visited) =>
    sought.some(({ subject, id, name: own, keys, isInText }) => {
      const text = String(value);
      if (isName(text, own) || keys.includes(text)) return true;
      if (kinds?.includes(subject.kind) === false && !isUuid(id)) return false;
      if (canonicalId(text) === id) return mayBeId(text, name);
      // The values of JSON are compared one by one: a search in its text would take a part of an id for the id.
      return typeof value === "string" && isJson !== true && isInText(text);
    });
  const isInAny = (text: string) => sought.some(({ isInText }) => isInText(text));
  return (text, about) => {
    const whole = parsed(text) ?? { value: text };
    const root = { value: whole.value, name: "", kinds: undefined, inTexts: 0 };
    const mostDecoded = decodedPerCharacter * text.length + leastDecoded;
    return someValue(root, about, { isWanted: isNamedBy, isInText: isInAny, mostDecoded });
  };
}

/** Uses a list instead of recursion, so that deep nesting can't overflow the stack. */
function someValue(
  first: Visited,
  about: WebhookKind | undefined,
  {
    isWanted,
    isInText,
    mostDecoded,
  }: {
    readonly isWanted: (visited: Visited) => boolean;
    readonly isInText: (text: string) => boolean;
    readonly mostDecoded: number;
  },
): boolean {
  const waiting: Visited[] = [first];
  let decodable = mostDecoded;
  for (let visited = waiting.pop(); visited !== undefined; visited = waiting.pop()) {
    const { value, name, inTexts } = visited;
    if (isRawNumber(value)) {
      if (isWanted({ ...visited, value: value.rawJSON })) return true;
    } else if (typeof value === "number" || typeof value === "string") {
      const inner = typeof value === "string" && inTexts < deepestText ? parsed(value)?.value : undefined;
      if (isWanted({ ...visited, isJson: typeof inner === "object" && inner !== null })) return true;
      if (typeof value === "number" || inTexts === deepestText) continue;
      const encoded = encodedTexts(value);
      decodable -= encoded.reduce((sum, { length }) => sum + length, 0);
      if (decodable < 0) return true;
      for (const each of [inner, ...encoded])
        if (typeof each === "object" || typeof each === "string")
          waiting.push({ ...visited, value: each, inTexts: inTexts + 1 });
    } else if (Array.isArray(value)) {
      for (const element of value) waiting.push({ ...visited, value: element });
    } else if (typeof value === "object" && value !== null) {
      const members = Object.entries(value);
      for (const [key, member] of members) {
        const isAttribute = members.length === 1 && attributeTypes.has(key);
        if (isAttribute) waiting.push({ ...visited, value: member });
        else {
          // A field name may be an id, too: `{"users": {"<id>": {}}}`.
          const isId = /\d/.test(key) && namesOfIds.test(name) && isWanted({ ...visited, value: key });
          if (isId || isInText(key)) return true;
          const kinds = isBareId(key) ? kindsOfBareId(value, name, about) : kindsOfName(key);
          waiting.push({ value: member, name: key, kinds, inTexts });
        }
      }
    }
  }
  return false;
}

function mayBeId(text: string, name: string): boolean {
  if (unmistakable.test(text)) return true;
  if (fewDigits.test(text)) return namesOfIds.test(name) && !namesOfCounts.test(name);
  return !namesOfWords.test(name);
}

/** Whether a text is a name or a path below it: `account/<id>/income`. Ids in names contain no `/`. */
function isName(text: string, name: string): boolean {
  return text.startsWith(name) && (text.length === name.length || text.charAt(name.length) === "/");
}

/** Only the contract's and our own field names tell the kind of an id: `account_holder` may be a user. */
function kindsOfName(name: string): Kinds {
  const [, kind] = /^(user|account|companyaccount)s?(?:id|uuid)?$/i.exec(name.replace(/[_-]/g, "")) ?? [];
  switch (kind?.toLowerCase()) {
    case "user":
      return ["user"];
    case "account":
      // Company accounts are also called accounts.
      return ["account", "company-account"];
    case "companyaccount":
      return ["company-account"];
    default:
      return undefined;
  }
}

function isBareId(name: string): boolean {
  return /^(id|uuid)$/i.test(name);
}

/**
 * The kind of a bare `id`, from its object: a subject of our own, a member such as `account`, or the
 * webhook's kind.
 */
function kindsOfBareId(holder: object, name: string, about: WebhookKind | undefined): Kinds {
  const kind = "kind" in holder ? subjectKinds.find((each) => each === holder.kind) : undefined;
  if (kind !== undefined) return [kind];
  const isOfWebhook = about !== undefined && about !== "endpoints" && !namesOfIds.test(name);
  return kindsOfName(isOfWebhook ? about : name);
}

/** @returns undefined if the text is not JSON */
function parsed(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*[[{"\d-]/.test(text)) return undefined;
  try {
    return { value: parseExact(text, "the text") };
  } catch {
    return undefined;
  }
}
