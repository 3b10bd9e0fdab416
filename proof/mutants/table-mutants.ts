import { fetchMutants } from "./fetch-mutants.ts";
import { mutantsOf, type ProtocolMutant } from "./protocol-mutant.ts";

const stored = "Stored once";
const followed = "Nothing stored without its consequences";
const fetched = "Fetched";
const rarely = "Called as rarely as can be, and never above the rate";
const kept = "Never dropped silently";
const erased = "Erased stays erased";
const same = "A message is the same whenever it is sent again";
const truth = "The truth in the end";

const storing: readonly ProtocolMutant[] = [
  ...mutantsOf("domain/event/receipts.ts", [
    {
      name: "write the same key twice in a batch",
      breaks: stored,
      code: "byKey.set(key, messages);",
      instead: "byKey.delete(key);\n    byKey.set(key + message.id, messages);",
    },
    {
      name: "count SQS delivering an event's first message again",
      breaks: rarely,
      code: "id !== known.first && id !== known.last",
      instead: "id !== known.last",
    },
    {
      name: "count SQS delivering an event's last message again",
      breaks: rarely,
      code: "id !== known.first && id !== known.last",
      instead: "id !== known.first",
    },
    {
      name: "want the document since the first of several receipts",
      breaks: fetched,
      code: "last: last.id, since: last.sentAt };",
      instead: "last: last.id, since: first.sentAt };",
    },
    {
      name: "lower since for a message that comes late",
      breaks: fetched,
      code: "since: Math.max(known.since, last.sentAt),",
      instead: "since: last.sentAt,",
    },
    {
      name: "keep since as it is where an event comes again",
      breaks: fetched,
      code: "since: Math.max(known.since, last.sentAt),",
      instead: "since: known.since,",
    },
    {
      name: "process the last of several receipts alone",
      breaks: followed,
      code: "return before === 0 && after > 1 ? [1, after] : [after];",
      instead: "return [after];",
    },
    {
      name: "process what is counted as if it were new",
      breaks: rarely,
      code: "if (last === undefined) return undefined;",
      instead: "if (last === undefined) return { ...known, count: known.count + 1 };",
    },
  ]),
  ...mutantsOf("proof/model/table/table.ts", [
    {
      name: "insert over an event",
      breaks: stored,
      code: "if (this.events.has(after.event.id)) return false;",
      instead: "",
    },
    {
      name: "count over what another consumer counted",
      breaks: fetched,
      code: "if (before === undefined || JSON.stringify(before.receipts) !== JSON.stringify(receipts)) return false;",
      instead: "if (before === undefined) return false;",
    },
    {
      name: "write a state over a newer one",
      breaks: truth,
      code: "if (known?.version !== before?.version) return false;",
      instead: "",
    },
    {
      name: "write a document without its condition",
      breaks: fetched,
      code: "if (this.documents.get(key)?.asOf !== known) return false;",
      instead: "",
    },
    {
      name: "announce a document that is the same",
      breaks: same,
      code: 'if (news) this.stream.push({ of: "document", after });',
      instead: 'this.stream.push({ of: "document", after });',
    },
  ]),
  ...mutantsOf("proof/model/table/store.ts", [
    {
      name: "take a weak event that is there already for stored",
      breaks: fetched,
      code: "refused.filter(({ one }) => isUnordered(one.receipt.body.event))",
      instead: "refused.filter(() => false)",
    },
    {
      name: "delete a webhook whose write has no answer",
      breaks: kept,
      code: "const open = [...unanswered, ...again];",
      instead: "const open = again;",
    },
    {
      name: "look a strong event up before it is written",
      breaks: stored,
      code: "merged.filter(({ receipt }) => isUnordered(receipt.body.event));",
      instead: "merged;",
    },
  ]),
];

const relaying: readonly ProtocolMutant[] = [
  ...mutantsOf("domain/core/batches.ts", [
    {
      name: "write two versions of a state at once",
      breaks: truth,
      code: "const round = counts.get(key) ?? 0;",
      instead: "const round = Math.min(0, counts.get(key) ?? 0);",
    },
  ]),
  ...mutantsOf("proof/model/table/relay.ts", [
    {
      name: "overtake a write of the same state that failed",
      breaks: truth,
      code: "stopped.add(key);",
      instead: "",
    },
    {
      name: "relay what is erased",
      breaks: erased,
      code: "erased.has(nameOf(subject)) ?",
      instead: 'erased.has("") ?',
    },
    {
      name: "pass a task that was not sent",
      breaks: followed,
      code: "if (of.tasks.some(({ task }) => failedGroups.has(groupOf(task)))) of.hasFailed = true;",
      instead: "",
    },
    {
      name: "deduplicate tasks without the receipt's number",
      breaks: fetched,
      code: "receiptCause(event.id, receipt)",
      instead: "receiptCause(event.id, 1)",
    },
    {
      name: "order an event's message by its last receipt",
      breaks: same,
      code: "sequence: receipts.firstAt",
      instead: "sequence: receipts.since",
    },
    {
      name: "name a document's message by its last read",
      breaks: same,
      code: "{ name, announced = 0, digest, object }",
      instead: "{ name, asOf: announced, digest, object }",
    },
  ]),
  ...mutantsOf("domain/fetch/task.ts", [
    {
      name: "merge tasks into the one with the least since",
      breaks: fetched,
      code: "task.cause > known.cause : task.since > known.since;",
      instead: "task.cause > known.cause : task.since < known.since;",
    },
    {
      name: "group tasks by their cause",
      breaks: rarely,
      code: "return digestOf(partsOf(task));",
      instead: "return digestOf([...partsOf(task), task.cause]);",
    },
    {
      name: "deduplicate tasks by their document alone",
      breaks: fetched,
      code: "return digestOf([...partsOf(task), task.cause, ",
      instead: "return digestOf([...partsOf(task), ",
    },
    {
      name: "redrive a task under the id that it had",
      breaks: kept,
      code: "deadLetter === undefined ? [] : [deadLetter]",
      instead: "deadLetter === undefined ? [] : []",
    },
  ]),
];

/** Each rule of the table's protocol, and each of its conditions, done wrong. */
export const tableMutants: readonly ProtocolMutant[] = [...storing, ...relaying, ...fetchMutants];
