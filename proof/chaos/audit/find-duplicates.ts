import { z } from "zod";
import type { MessageLine, RecordLine } from "./read-records.ts";

const message = z.object({
  id: z.string(),
  source: z.string(),
  subject: z.string(),
  sequence: z.string(),
  replayid: z.string().optional(),
});

/** Records, and the provider ids of erased people. */
type DuplicateEvidence = {
  readonly records: readonly RecordLine[];
  readonly messages: readonly MessageLine[];
  readonly erased: ReadonlySet<string>;
};

/**
 * Describes every extra record and message. A repeated message is not extra: delivery is at-least-once, and
 * readers deduplicate by id. Extra is what a reader would take for something else: one event in two records,
 * an overwritten record, one id with two contents, two ids at one place in a subject's order. A repeated message
 * may have newer attributes, which have a sequence of their own.
 */
export function findDuplicates({ records, messages, erased }: DuplicateEvidence): readonly string[] {
  const isErased = ({ key }: RecordLine) => [...erased].some((id) => key.includes(id));
  return [...extraRecords(records.filter((line) => !isErased(line))), ...extraMessages(messages)];
}

function extraRecords(records: readonly RecordLine[]): readonly string[] {
  return [...Map.groupBy(records, ({ id }) => id)].flatMap(([id, lines]) => {
    const inserted = lines.filter(({ change }) => change === "INSERT");
    const versions = new Map<string, string>();
    const rewritten = lines.filter(({ change, key, digest }) => {
      const isOther = change === "MODIFY" && versions.get(key) !== digest;
      versions.set(key, digest);
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
