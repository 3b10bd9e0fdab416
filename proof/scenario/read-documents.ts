import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { SubscriberCaller } from "@income-events/local-stack/stack/subscriber-callers.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { z } from "zod";
import { signedFetch } from "../support/signed-fetch.ts";

/** A document version that a message announces. */
export type AnnouncedDocument = {
  /** `account/<id>/<endpoint>`, as in the message. */
  readonly subject: string;
  readonly href: string;
  readonly sha256: string;
  /** Whether no later message announces the same document. */
  readonly isNewest: boolean;
};

const dataMessage = z.object({
  type: z.literal("data.updated"),
  subject: z.string(),
  sequence: z.string(),
  data: z.object({ document: z.object({ href: z.string(), sha256: z.string() }).optional() }),
});
const problem = z.object({ type: z.string() });

/** Covers the absence of a killed function, and a busy table. */
const maxAttempts = 20;
const longestWaitMs = 2_000;
const readsAtOnce = 4;

/**
 * The announced versions, each once.
 * @param bodies of all messages to a subscriber
 */
export function documentsIn(bodies: readonly string[]): readonly AnnouncedDocument[] {
  const messages = bodies.flatMap((body) => dataMessage.safeParse(JSON.parse(body)).data ?? []);
  const newest = new Map<string, string>();
  for (const { subject, sequence } of messages) {
    if (sequence > (newest.get(subject) ?? "")) newest.set(subject, sequence);
  }
  const announced = messages.flatMap(
    ({ subject, sequence, data: { document } }): [string, AnnouncedDocument][] =>
      document === undefined
        ? []
        : [[document.href, { subject, ...document, isNewest: newest.get(subject) === sequence }]],
  );
  return [...new Map(announced).values()];
}

/**
 * Reads, as each subscriber, every version that was announced to it.
 * @param bodiesOf all messages to a subscriber, by its name
 */
export async function readAllDocuments(
  { stack, subscribers }: Pick<System, "stack" | "subscribers">,
  bodiesOf: (subscriber: string) => readonly string[],
  isErased: (subject: string) => boolean,
) {
  const found = await Promise.all(
    subscribers.map((subscriber) =>
      readDocuments(
        documentsIn(bodiesOf(subscriber.name)),
        { ...subscriber, region: stack.region },
        isErased,
      ),
    ),
  );
  return {
    read: found.reduce((sum, { read }) => sum + read, 0),
    missing: found.flatMap(({ missing }) => missing),
  };
}

/**
 * Reads each version that was announced to a subscriber, with its credentials. A replaced version may be
 * missing; an erased subject's must be.
 * @param isErased whether a message's subject was erased
 * @returns how many were read with the announced bytes, and a description of each missing one
 */
export async function readDocuments(
  announced: readonly AnnouncedDocument[],
  subscriber: Pick<SubscriberCaller, "name" | "credentials"> & { readonly region: string },
  isErased: (subject: string) => boolean,
) {
  const waiting = [...announced];
  const missing: string[] = [];
  let read = 0;
  const readOn = async () => {
    for (let document = waiting.pop(); document !== undefined; document = waiting.pop()) {
      const answer = await readOne(document, subscriber);
      const isGone = answer === "gone" && (isErased(document.subject) || !document.isNewest);
      const isReplaced = answer === "replaced" && !document.isNewest;
      if (answer === "read") read += 1;
      else if (!isGone && !isReplaced) {
        missing.push(`${document.href} could not be read by ${subscriber.name}: ${answer}`);
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, readOn));
  return { read, missing };
}

/**
 * Returns `read`; `replaced` and `gone`, which are fine if the message is old or its subject erased; else the
 * problem.
 */
async function readOne(
  { href, sha256 }: AnnouncedDocument,
  { region, credentials }: Parameters<typeof readDocuments>[1],
): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    // Retries a connection that breaks during an answer like an error.
    const answer = await signedFetch(new URL(href), { region, credentials })
      .then(async (response) => ({
        status: response.status,
        retryAfter: Number(response.headers.get("retry-after") ?? 0),
        bytes: Buffer.from(await response.arrayBuffer()),
      }))
      .catch(() => ({ status: 503, retryAfter: 0, bytes: Buffer.alloc(0) }));
    const { status, retryAfter, bytes } = answer;
    if (status === 200) {
      return createHash("sha256").update(bytes).digest("hex") === sha256 ? "read" : "other bytes";
    }
    if (status === 404)
      return problem.parse(JSON.parse(bytes.toString())).type.endsWith(":version-not-kept")
        ? "replaced"
        : "gone";
    if ((status !== 429 && status < 500) || tries === maxAttempts) return `answered ${status}`;
    await wait(Math.min(longestWaitMs, Math.max(retryAfter * 1_000, 50 * tries)));
  }
}
