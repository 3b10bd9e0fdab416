import { paginateQuery, paginateScan } from "@aws-sdk/client-dynamodb";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { z } from "zod";
import type { RunningImplementation } from "./running-implementation.ts";

/** What an implementation has in the end, in words that all implementations share; each list is sorted. */
export type Snapshot = {
  /** Ids of events that are stored. */
  readonly events: readonly string[];
  /** `<subject> <connected>` */
  readonly states: readonly string[];
  /** `<account>/<endpoint> <digest>` */
  readonly data: readonly string[];
  /** Ids of messages about events, and `<subject> <digest>` of those about data, each once. */
  readonly messages: readonly string[];
};

const item = z.looseObject({ pk: z.string(), sk: z.string() });

/** Reads table and subscriber's queue; the messages are taken away. */
export async function takeTableSnapshot(running: RunningImplementation): Promise<Snapshot> {
  const lists = { events: new Set<string>(), states: new Set<string>(), data: new Set<string>() };
  const TableName = outputOf(running.stack, "TableName");
  for await (const { Items = [] } of paginateScan({ client: running.dynamodb }, { TableName })) {
    for (const stored of Items) {
      const { pk, sk, ...fields } = item.parse(unmarshall(stored));
      if (sk.startsWith("EVENT#")) lists.events.add(sk.slice("EVENT#".length));
      else if (sk === "STATE" || sk === "PROFILE") lists.states.add(`${pk} ${connectedOf(fields)}`);
      else if (/^(DATA|DOCUMENT)#/.test(sk))
        lists.data.add(`${pk}/${sk.slice(sk.indexOf("#") + 1)} ${digestOf(fields)}`);
    }
  }
  const messages = await takeMessages(running);
  return sortedSnapshot({ ...lists, messages });
}

export function sortedSnapshot(found: Readonly<Record<keyof Snapshot, ReadonlySet<string>>>): Snapshot {
  const sorted = (values: ReadonlySet<string>) => [...values].sort();
  return {
    events: sorted(found.events),
    states: sorted(found.states),
    data: sorted(found.data),
    messages: sorted(found.messages),
  };
}

/**
 * How many events of some users are stored. Each is looked up by its key: DynamoDB Local sorts what is left of a table
 * for each page of a scan, which takes it hours where there is much.
 */
export async function countEvents(
  { stack, dynamodb: client }: RunningImplementation,
  users: readonly string[],
): Promise<number> {
  const query = {
    TableName: outputOf(stack, "TableName"),
    KeyConditionExpression: "pk = :user AND begins_with(sk, :event)",
    Select: "COUNT",
  } as const;
  let count = 0;
  for (const user of users) {
    const ExpressionAttributeValues = { ":user": { S: `USER#${user}` }, ":event": { S: "EVENT#" } };
    for await (const { Count = 0 } of paginateQuery({ client }, { ...query, ExpressionAttributeValues }))
      count += Count;
  }
  return count;
}

const connection = z.object({ connected: z.boolean().default(false) });

function connectedOf({ state, ...profile }: Record<string, unknown>): boolean {
  return connection.parse(state ?? profile).connected;
}

const digested = z.object({ digest: z.string() });

function digestOf({ document, ...own }: Record<string, unknown>): string {
  return inBase64(digested.parse(document ?? own).digest);
}

/** Ours writes digests in hex, the peers in base64url. */
function inBase64(digest: string): string {
  return /^[0-9a-f]{64}$/.test(digest) ? Buffer.from(digest, "hex").toString("base64url") : digest;
}

const message = z.object({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  data: z.looseObject({
    /** Of the peers. */
    content: z.string().optional(),
    document: z.object({ sha256: z.string() }).optional(),
  }),
});

async function takeMessages({ sqs, stack }: RunningImplementation): Promise<ReadonlySet<string>> {
  const QueueUrl = outputOf(stack, "SubscriberReaderQueueUrl");
  const found = new Set<string>();
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return found;
    for (const { Body = "" } of Messages) {
      const { id, type, subject, data } = message.parse(JSON.parse(Body));
      found.add(
        type === "data.updated" ? `${subject} ${inBase64(data.document?.sha256 ?? data.content ?? "")}` : id,
      );
    }
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
}
