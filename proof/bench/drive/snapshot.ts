import { outputOf } from "@income-events/local-stack/outputs.ts";
import { z } from "zod";
import { identify } from "../../../domain/event/envelope.ts";
import { readBodies, readItems } from "../../scenario/snapshot.ts";
import { titles } from "../implementations.ts";
import type { Webhook } from "../workload.ts";
import type { RunningImplementation } from "./running-implementation.ts";

const lists = ["events", "states", "data", "messages"] as const;
/**
 * Final state in terms that all implementations share: ids of stored events; `<subject> <connected>`;
 * `<account>/<endpoint> <digest>`; ids of messages about events, and `<subject> <digest>` of those about
 * data.
 */
type Snapshot = Readonly<Record<(typeof lists)[number], ReadonlySet<string>>>;

const item = z.looseObject({ pk: z.string(), sk: z.string() });

/** Reads the table and the subscriber's queue, deleting the messages. */
async function takeTableSnapshot(running: RunningImplementation): Promise<Snapshot> {
  const found = { events: new Set<string>(), states: new Set<string>(), data: new Set<string>() };
  for (const stored of await readItems(running.access, outputOf(running.stack, "TableName"))) {
    // The peers have no field around these.
    const { pk, sk, state, document, ...fields } = item.parse(stored);
    if (sk.startsWith("EVENT#")) found.events.add(sk.slice("EVENT#".length));
    else if (sk === "STATE" || sk === "PROFILE")
      found.states.add(`${pk} ${connection.parse(state ?? fields).connected}`);
    else if (/^(DATA|DOCUMENT)#/.test(sk))
      found.data.add(
        `${pk}/${sk.slice(sk.indexOf("#") + 1)} ${inBase64(digested.parse(document ?? fields).digest)}`,
      );
  }
  return { ...found, messages: await takeMessages(running) };
}

const connection = z.object({ connected: z.boolean().default(false) });
const digested = z.object({ digest: z.string() });

/** Converts digests, which our implementation writes in hex and the peers in base64url. */
function inBase64(digest: string): string {
  return /^[0-9a-f]{64}$/.test(digest) ? Buffer.from(digest, "hex").toString("base64url") : digest;
}

const message = z.object({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  data: z.looseObject({
    /** Peers only. */
    content: z.string().optional(),
    document: z.object({ sha256: z.string() }).optional(),
  }),
});

async function takeMessages({ access, stack }: RunningImplementation): Promise<ReadonlySet<string>> {
  const bodies = await readBodies(access, outputOf(stack, "SubscriberReaderQueueUrl"));
  const names = bodies.map((body) => {
    const { id, type, subject, data } = message.parse(JSON.parse(body));
    return type === "data.updated"
      ? `${subject} ${inBase64(data.document?.sha256 ?? data.content ?? "")}`
      : id;
  });
  return new Set(names);
}

/** Describes each list of a snapshot that differs from the expected one, in one line. */
function differences(title: string, expected: Partial<Snapshot>, snapshot: Snapshot): readonly string[] {
  return lists.flatMap((name) => {
    const [wanted = new Set<string>(), found] = [expected[name], snapshot[name]];
    const missing = wanted.difference(found);
    const extra = found.difference(wanted);
    if (missing.size + extra.size === 0) return [];
    const example = [...missing, ...extra][0] ?? "";
    return [
      `${title}: of ${wanted.size} ${name} ${missing.size} missing, ${extra.size} too many, such as ${example}`,
    ];
  });
}

/**
 * Compares implementations with each other, and their events with those delivered.
 * @throws if one lost or added something: its ratios would mean nothing
 */
export async function requireNothingLost(
  running: readonly RunningImplementation[],
  delivered: readonly Webhook[],
): Promise<void> {
  const found = await Promise.all(
    running.map(async (each) => [titles[each.implementation], await takeTableSnapshot(each)] as const),
  );
  const events = new Set(delivered.map(({ kind, body }) => identify(kind, Buffer.from(body))));
  const expected = { ...found[0]?.[1], events };
  const differing = found.flatMap(([title, snapshot]) => differences(title, expected, snapshot));
  if (differing.length > 0) throw new Error(`The results differ; no ratio counts:\n${differing.join("\n")}`);
}
