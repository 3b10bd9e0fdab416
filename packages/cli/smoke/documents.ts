import { setTimeout as pause } from "node:timers/promises";
import type { ReadAnswer, ReadDocument } from "../../../adapters/aws/document-reads.ts";
import type { AnnouncedDocument, AnnouncedDocuments } from "./announced-documents.ts";
import type { Check } from "./checks.ts";

/** What became of the documents that messages announced. */
export type DocumentCounts = {
  /** Versions whose bytes were read, and are those that the message names. */
  readonly documentsRead: number;
  /** Versions that could not be read though they should be there. */
  readonly documentsMissing: number;
};

export type DocumentsTarget = {
  readonly readDocument: ReadDocument;
  /** Where the stage's read API is: nothing is signed for any other address. */
  readonly documentsUrl: string;
  /** How long the reads may take. */
  readonly seconds: number;
};

const readsAtOnce = 4;
const maxAttempts = 5;
const firstPauseInMs = 200;
/** So many problems are reported in words. */
const mostShown = 3;

/**
 * Reads each version of a document that messages announced. A version that a newer one replaced need not be
 * there any more, and of who was erased nothing may be.
 */
export async function checkDocuments(
  announced: AnnouncedDocuments,
  target: DocumentsTarget,
): Promise<{ readonly check: Check; readonly counts: DocumentCounts }> {
  const end = Date.now() + target.seconds * 1000;
  const waiting = [...announced.all()];
  const problems: string[] = [];
  let [documentsRead, replaced] = [0, 0];
  const readOn = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (Date.now() >= end) return void waiting.push(next);
      const outcome = await readOne(next, announced.isSuperseded(next), target);
      if (outcome === "read") documentsRead += 1;
      else if (outcome === "replaced") replaced += 1;
      else problems.push(`${next.subject}: ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, readOn));
  const seen = [
    `${documentsRead} of ${announced.all().length} read`,
    ...(replaced > 0 ? [`${replaced} replaced by newer ones`] : []),
    ...(waiting.length > 0 ? [`${waiting.length} not asked for within ${target.seconds} s`] : []),
    ...problems.slice(0, mostShown),
    ...(problems.length > mostShown ? [`and ${problems.length - mostShown} more`] : []),
  ].join("; ");
  const name = "documents: each that a message announced can be read";
  const check = { name, passed: problems.length === 0, seen };
  return { check, counts: { documentsRead, documentsMissing: problems.length } };
}

/** `read`, `replaced`, or what is wrong and what to do about it. */
async function readOne(
  document: AnnouncedDocument,
  isSuperseded: boolean,
  { readDocument: read, documentsUrl }: DocumentsTarget,
): Promise<string> {
  if (!document.href.startsWith(documentsUrl)) return remedies.elsewhere;
  const answer = await askUntilAnswered(document.href, read);
  if (typeof answer === "string") return answer;
  const { status, sha256, newest } = answer;
  switch (status) {
    case 200:
      return sha256 === document.sha256 ? "read" : remedies.otherBytes;
    case 403:
      return remedies.refused;
    case 404: {
      if (isSuperseded) return "replaced";
      if (newest === undefined || !newest.startsWith(documentsUrl))
        return remedies.gone + fetchAgain(document);
      const later = await askUntilAnswered(newest, read);
      // Times of HTTP are to a second.
      const since = Math.floor(document.observedAt / 1000) * 1000;
      return typeof later !== "string" && (later.observedAt ?? 0) >= since
        ? "replaced"
        : remedies.older + fetchAgain(document);
    }
    default:
      return `answered ${status}${status === 500 ? remedies.failed : ""}`;
  }
}

const remedies = {
  elsewhere:
    "its message names another address than the output DocumentsUrl, and nothing is signed for that. " +
    "Are the outputs those of the last deployment? A replay sends messages with today's address",
  otherBytes: "other bytes than the message names: please report this",
  refused:
    "answered 403. Whoever runs this needs lambda:InvokeFunctionUrl and lambda:InvokeFunction on the output " +
    "DocumentsFunctionArn, and reads for subscribers of this account that name no principals",
  gone: "answered 404, though no newer message replaces it. If the person was not erased since, have it fetched again: ",
  older: "answered 404, and the newest version is older than the message. Have it fetched again: ",
  failed: ". The log says why: npx income-events logs documents",
};

function fetchAgain({ subject }: AnnouncedDocument): string {
  return `npx income-events fetch ${subject.split("/").slice(0, 3).join(" ")}`;
}

/** A busy stage is asked again. @returns the answer, or why there is none */
async function askUntilAnswered(href: string, read: ReadDocument): Promise<ReadAnswer | string> {
  for (let tries = 1; ; tries += 1) {
    const answer = await read(href).catch((error: unknown) => `no answer (${reasonOf(error)})`);
    const isFinal = typeof answer !== "string" && answer.status !== 429 && answer.status < 500;
    if (isFinal || tries === maxAttempts) return answer;
    await pause(firstPauseInMs * 2 ** (tries - 1));
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
