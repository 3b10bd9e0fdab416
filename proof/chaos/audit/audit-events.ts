import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { MessageLine, RecordLine, SentLine } from "../records.ts";

export type Evidence = {
  readonly sent: readonly SentLine[];
  readonly records: readonly RecordLine[];
  readonly messages: readonly MessageLine[];
  /** Ids of the webhooks' events in the table. */
  readonly stored: ReadonlySet<string>;
  /** Ids of events in dead-letter queues or in their archive. */
  readonly deadLetters: ReadonlySet<string>;
  /** Provider ids of erased people, of whom nothing may remain. */
  readonly erased: ReadonlySet<string>;
  /** Maximum attempts of a webhook; absent: until it is answered. */
  readonly tries?: number | undefined;
  /** Missing or wrong records; each names an event or a subject. */
  readonly losses: readonly string[];
  /** Findings that fail the run by themselves, one sentence each. */
  readonly findings: readonly string[];
};

type EventFate = "stored" | "deadlettered" | "refused" | { readonly lost: string };

/** Accounts for every distinct event that was sent: `sent` is the sum of the next four. */
export function account(evidence: Evidence) {
  const { stored, deadLetters, losses } = evidence;
  const sent = Map.groupBy(evidence.sent, ({ id }) => id);
  const written = new Set(evidence.records.flatMap(({ change, id }) => (change === "INSERT" ? [id] : [])));
  const fates = new Map([...sent].map(([id, calls]) => [id, fateOf(id, calls, { ...evidence, written })]));
  const count = (wanted: EventFate) => [...fates.values()].filter((fate) => fate === wanted).length;
  const lostEvents = new Map(
    [...fates].flatMap(([id, fate]) => (typeof fate === "object" ? [[id, fate.lost] as const] : [])),
  );
  const names = new Set(evidence.sent.flatMap(({ id, subjects }) => [id, ...subjects]));
  const isExplained = (loss: string) => [...names].some((name) => loss.includes(name));
  const duplicates = findDuplicates(evidence);
  return {
    sent: sent.size,
    stored: count("stored"),
    deadlettered: count("deadlettered"),
    refused: count("refused"),
    lost: lostEvents.size,
    /** Extra records and extra messages. */
    duplicated: duplicates.length,
    /** Each lost event, with the reason. */
    lostEvents,
    duplicates,
    /** Contradictions; the account closes only if there are none. */
    unaccounted: [
      ...[...stored].filter((id) => !sent.has(id)).map((id) => `${id} is stored and nobody sent it`),
      ...[...deadLetters]
        .filter((id) => !sent.has(id))
        .map((id) => `${id} is a dead letter and nobody sent it`),
      ...[...fates]
        .filter(([id, fate]) => fate === "refused" && (stored.has(id) || deadLetters.has(id)))
        .map(([id]) => `${id} was refused and is there`),
      ...losses.filter((loss) => !isExplained(loss)),
      ...evidence.findings,
    ],
  };
}

function fateOf(
  id: string,
  calls: readonly SentLine[],
  {
    stored,
    deadLetters,
    erased,
    losses,
    written,
    tries = Number.POSITIVE_INFINITY,
  }: Evidence & { readonly written: ReadonlySet<string> },
): EventFate {
  const statuses = calls.flatMap(({ status = 0 }) => status);
  const isAccepted = statuses.some((status) => status >= 200 && status < 300);
  const names = [id, ...calls.flatMap(({ subjects }) => subjects)];
  if (!isAccepted && statuses.some((status) => status >= 400 && status < 500)) return "refused";
  // Events that were written and then erased count as erased.
  if (written.has(id) && calls.some(({ subjects }) => subjects.some((name) => erased.has(name))))
    return "stored";
  const loss = losses.find((words) => names.some((name) => words.includes(name)));
  if (stored.has(id) && loss === undefined) return "stored";
  if (deadLetters.has(id)) return "deadlettered";
  if (stored.has(id)) return { lost: loss ?? "" };
  // The provider gave up, and every other record is there.
  if (!isAccepted && calls.length >= tries && loss === undefined) return "refused";
  return { lost: losses.find((words) => words.includes(id)) ?? "it is nowhere" };
}

const message = z.object({
  id: z.string(),
  source: z.string(),
  subject: z.string(),
  sequence: z.string(),
  replayid: z.string().optional(),
});

/**
 * Describes every extra record and message. A repeated message is not extra: delivery is at-least-once, and
 * readers deduplicate by id. Extra is what a reader would take for something else: one event in two records,
 * an overwritten record, one id with two contents, two ids at one place in a subject's order. A repeated message
 * may have newer attributes, which have a sequence of their own.
 */
function findDuplicates({ records, messages, erased }: Evidence): readonly string[] {
  const isErased = ({ key }: RecordLine) => [...erased].some((id) => key.includes(id));
  return [...extraRecords(records.filter((line) => !isErased(line))), ...extraMessages(messages)];
}

function extraRecords(records: readonly RecordLine[]): readonly string[] {
  return [...Map.groupBy(records, ({ id }) => id)].flatMap(([id, lines]) => {
    const inserted = lines.filter(({ change }) => change === "INSERT");
    const versions = new Map<string, unknown>();
    const rewritten = lines.filter(({ change, key, content }) => {
      const isOther = change === "MODIFY" && !isDeepStrictEqual(versions.get(key), content);
      versions.set(key, content);
      return isOther;
    });
    return [
      ...inserted.slice(1).map(({ key }) => `the event ${id} has one more record: ${key}`),
      ...rewritten.map(({ key }) => `the event ${id} was written over: ${key}`),
    ];
  });
}

type AnnouncedMessage = z.output<typeof message> & { readonly content: string };

function extraMessages(lines: readonly MessageLine[]): readonly string[] {
  return [...Map.groupBy(lines, ({ subscriber }) => subscriber)].flatMap(([subscriber, received]) => {
    const announced: readonly AnnouncedMessage[] = received
      .map(({ body }) => ({ ...message.parse(JSON.parse(body)), content: contentOf(body) }))
      // A replay reports old events with today's state, and is marked.
      .filter(({ replayid }) => replayid === undefined);
    const extra = (
      name: (each: AnnouncedMessage) => string,
      of: (each: AnnouncedMessage) => string,
      words: string,
    ) =>
      [...Map.groupBy(announced, name)].flatMap(([key, copies]) => {
        const others = [...new Set(copies.map(of))].slice(1);
        return others.map((other) => `to ${subscriber}: ${key} ${words} ${other.slice(0, 200)}`);
      });
    return [
      ...extra(
        ({ id }) => id,
        ({ content }) => content,
        "came also as",
      ),
      ...extra(
        ({ subject, sequence }) => `${subject} ${sequence}`,
        ({ id }) => id,
        "is also the place of",
      ),
    ];
  });
}

function contentOf(body: string): string {
  return JSON.stringify(JSON.parse(body), (name, value: unknown) =>
    name === "attributes" || name === "attributesSequence" ? undefined : value,
  );
}
