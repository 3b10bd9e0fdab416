import { setTimeout as pause } from "node:timers/promises";
import type { ReadAnswer } from "../../../adapters/aws/document-reads.ts";
import { commandLine } from "../core/text.ts";
import { noAnswer } from "../provider/webhook-sender.ts";
import type { Check } from "./plan.ts";
import { readPromised } from "./queues.ts";

/** A version of a document that a message announces. */
type AnnouncedDocument = {
  /** `account/<id>/<endpoint>`, as in the message. */
  readonly subject: string;
  readonly href: string;
  readonly sha256: string;
  readonly observedAt: string;
  readonly sequence: string;
};

/** The documents that messages announce. */
export class AnnouncedDocuments {
  readonly #announced = new Map<string, AnnouncedDocument>();
  readonly #newest = new Map<string, string>();
  readonly #erased = new Set<string>();

  /** Adds a message of any type; messages outside the contract are ignored. */
  add(body: string): void {
    const message = readPromised(body);
    if ("problem" in message) return;
    const { subject, type } = message;
    if (type.endsWith(".erased")) this.#erased.add(subject);
    if (type !== "data.updated") return;
    const { sequence, data } = message;
    if (sequence > (this.#newest.get(subject) ?? "")) this.#newest.set(subject, sequence);
    // A document that is only in the message has no address to read.
    if (data.document !== undefined && !data.document.href.startsWith("urn:"))
      this.#announced.set(data.document.href, { ...data.document, subject, sequence });
  }

  /** The versions, without duplicates. */
  all(): readonly AnnouncedDocument[] {
    return [...this.#announced.values()];
  }

  /** Whether a newer message replaced this version or announced its subject's erasure. */
  isSuperseded({ subject, sequence }: AnnouncedDocument): boolean {
    const owner = subject.split("/").slice(0, 2).join("/");
    return this.#erased.has(owner) || (this.#newest.get(subject) ?? "") > sequence;
  }
}

type DocumentsTarget = {
  /** Reads an address of the read API. @throws if there is no response */
  readonly readDocument: (href: string) => Promise<ReadAnswer>;
  /** The stage's read API; requests to other addresses are never signed. */
  readonly documentsUrl: string;
  /** Maximum duration of all reads, in seconds. */
  readonly seconds: number;
};

const readsAtOnce = 4;
const maxAttempts = 5;
const firstPauseInMs = 200;
/** Maximum problems to describe. */
const mostShown = 3;

/**
 * Reads each announced version of a document and compares its bytes. Superseded versions may be gone, and
 * those of erased subjects must be; both are skipped.
 */
export async function checkDocuments(announced: AnnouncedDocuments, target: DocumentsTarget) {
  const end = Date.now() + target.seconds * 1000;
  const waiting = [...announced.all()];
  const problems: string[] = [];
  const outcomes: string[] = [];
  while (waiting.length > 0 && Date.now() < end) {
    const batch = waiting.splice(0, readsAtOnce).map(async (each) => {
      const outcome = await readOne(each, announced.isSuperseded(each), target);
      outcomes.push(outcome);
      if (outcome !== "read" && outcome !== "replaced") problems.push(`${each.subject}: ${outcome}`);
    });
    await Promise.all(batch);
  }
  const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
  const [documentsRead, replaced] = [count("read"), count("replaced")];
  const seen = [
    `${documentsRead} of ${announced.all().length} read`,
    ...(replaced > 0 ? [`${replaced} replaced by newer ones`] : []),
    ...(waiting.length > 0 ? [`${waiting.length} not asked for within ${target.seconds} s`] : []),
    ...problems.slice(0, mostShown),
    ...(problems.length > mostShown ? [`and ${problems.length - mostShown} more`] : []),
  ].join("; ");
  const name = "documents: each that a message announced can be read";
  const check: Check = { name, passed: problems.length === 0, seen };
  return { check, counts: { documentsRead, documentsMissing: problems.length } };
}

/** `read`, `replaced`, or the problem and its remedy. */
async function readOne(
  { subject, href, sha256, observedAt }: AnnouncedDocument,
  isSuperseded: boolean,
  { readDocument: read, documentsUrl }: DocumentsTarget,
): Promise<string> {
  if (!isBelow(documentsUrl, href)) return remedies.elsewhere;
  const answer = await askUntilAnswered(href, read);
  if (typeof answer === "string") return answer;
  const { status, newest } = answer;
  if (status === 200) return sha256 === answer.sha256 ? "read" : remedies.otherBytes;
  if (status === 403) return remedies.refused;
  if (status !== 404) return `answered ${status}${status === 500 ? remedies.failed : ""}`;
  if (isSuperseded) return "replaced";
  const fetchAgain = commandLine`npx income-events fetch ${subject.split("/").slice(0, 3)}`;
  if (newest === undefined || !isBelow(documentsUrl, newest)) return remedies.gone + fetchAgain;
  const later = await askUntilAnswered(newest, read);
  // HTTP dates have a resolution of a second.
  const since = Math.floor(Date.parse(observedAt) / 1000) * 1000;
  const isNewer = typeof later !== "string" && (later.observedAt ?? 0) >= since;
  return isNewer ? "replaced" : remedies.older + fetchAgain;
}

/** An invoked function has an alias for each subscriber after its ARN. */
function isBelow(documentsUrl: string, href: string): boolean {
  if (!documentsUrl.startsWith("arn:")) return href.startsWith(documentsUrl);
  return href.replace(/^(arn:(?:[^:/]+:){5}[^:/]+):[^:/]+\//, "$1/").startsWith(documentsUrl);
}

const remedies = {
  elsewhere:
    "its message names another address than the output DocumentsUrl, and nothing is signed for that. " +
    "Are the outputs those of the last deployment? A replay sends messages with today's address",
  otherBytes: "other bytes than the message names: please report this",
  refused:
    "answered 403. To run this, you need lambda:InvokeFunctionUrl and lambda:InvokeFunction, the latter with the " +
    "condition lambda:InvokedViaFunctionUrl, on the output DocumentsFunctionArn, and reads for subscribers of this " +
    "account that name no principals. Where that is invoked, lambda:InvokeFunction on its aliases is enough",
  gone: "answered 404, though no newer message replaces it. If the person was not erased since, have it fetched again: ",
  older: "answered 404, and the newest version is older than the message. Have it fetched again: ",
  failed: ". See the log: npx income-events logs documents",
};

/** Reads again while the stage is busy. @returns the answer, or the reason for none */
async function askUntilAnswered(
  href: string,
  read: DocumentsTarget["readDocument"],
): Promise<ReadAnswer | string> {
  for (let tries = 1; ; tries += 1) {
    const answer = await read(href).catch(noAnswer);
    const isFinal = typeof answer !== "string" && answer.status !== 429 && answer.status < 500;
    if (isFinal || tries === maxAttempts) return answer;
    await pause(firstPauseInMs * 2 ** (tries - 1));
  }
}
