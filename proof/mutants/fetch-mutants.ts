import { mutantsOf, type ProtocolMutant } from "./protocol-mutant.ts";

const fetched = "Fetched";
const rarely = "Called as rarely as can be, and never above the rate";
const kept = "Never dropped silently";
const erased = "Erased stays erased";
const same = "A message is the same whenever it is sent again";

const fetching: readonly ProtocolMutant[] = [
  ...mutantsOf("domain/fetch/coverage.ts", [
    {
      name: "read again for a message that a document was read for",
      breaks: rarely,
      code: "if (document.by.includes(messageDigest(messageId))) return true;",
      instead: "",
    },
    {
      name: "read again for what a document was read after",
      breaks: rarely,
      code: "since + clockToleranceInMillis <= document.asOf;",
      instead: "since + clockToleranceInMillis <= 0;",
    },
    {
      name: "take the clocks of two services for the same",
      breaks: fetched,
      code: "since + clockToleranceInMillis <= document.asOf;",
      instead: "since <= document.asOf;",
    },
    {
      name: "believe an asOf that is in the future",
      breaks: fetched,
      code: "return !isInFuture(document.asOf, now) && ",
      instead: "return ",
    },
    {
      name: "keep an asOf that is in the future",
      breaks: fetched,
      code: "return known === undefined || isInFuture(known, now) ?",
      instead: "return known === undefined ?",
    },
    {
      name: "leave asOf as it is within a second",
      breaks: fetched,
      code: "now : Math.max(now, known + 1);",
      instead: "now : Math.max(now, known);",
    },
    {
      name: "say that a document was read when its task came first",
      breaks: rarely,
      code: "return Math.max(serviceDate, ...",
      instead: "return Math.max(0, ...",
    },
    {
      name: "call for who is erased",
      breaks: erased,
      code: "isErased || isVoid(task, document, now);",
      instead: "isVoid(task, document, now);",
    },
    {
      name: "name the first of the tasks that a call covers",
      breaks: rarely,
      code: "const by = open.map(",
      instead: "const by = open.slice(0, 1).map(",
    },
    {
      name: "go on with pages after another write",
      breaks: fetched,
      code: "pages !== undefined && pages.known === common.known && covered.length > 0",
      instead: "pages !== undefined && covered.length > 0",
    },
    {
      name: "cover what came after the first page",
      breaks: fetched,
      code: "const waiting = open.filter((task) => !covered.includes(task));\n    return { ...common, asOf: pages.asOf, by: pages.by, covered, waiting,",
      instead: "return { ...common, asOf: pages.asOf, by: pages.by, covered: open, waiting: [],",
    },
    {
      name: "say of pages that they were read when they were gone on with",
      breaks: fetched,
      code: "return { ...common, asOf: pages.asOf,",
      instead: "return { ...common, asOf: asOfOf(common.known, now),",
    },
    {
      name: "name all tasks of the batch for pages",
      breaks: fetched,
      code: "by: pages.by, covered, waiting,",
      instead: "by: open.map(({ messageId }) => messageDigest(messageId)), covered, waiting,",
    },
    {
      name: "end a task whose write was refused",
      breaks: fetched,
      code: 'if (answer === "accepted" || isVoid',
      instead: 'if (answer !== "unknown" || isVoid',
    },
    {
      name: "end a task whose write has no answer",
      breaks: fetched,
      code: 'if (answer === "accepted" || isVoid',
      instead: 'if (answer !== "refused" || isVoid',
    },
  ]),
  ...mutantsOf("proof/model/table/fetch.ts", [
    {
      name: "go by a Lambda's clock",
      breaks: fetched,
      code: "const now = timeBefore(before.date, tasks);",
      instead: "const now = timeBefore(before.clock(), tasks);",
    },
    {
      name: "drop tasks that wait for pages",
      breaks: kept,
      code: "for (const { message } of plan.waiting) yield* hide(world, message, waitForPages);",
      instead: "yield* end(world, plan.waiting.map(({ message }) => message));",
    },
  ]),
  ...mutantsOf("proof/model/table/write-documents.ts", [
    {
      name: "write no document that is the same",
      breaks: fetched,
      code: "const object = objectOf(reading);\n  const messages",
      instead:
        "if (!news && stored !== undefined) return true;\n  const object = objectOf(reading);\n  const messages",
    },
    {
      name: "name an object by its content alone",
      breaks: fetched,
      code: "[keyOf(name), announced, content.digest]",
      instead: "[keyOf(name), content.digest]",
    },
    {
      name: "put an object for each read",
      breaks: same,
      code: "[keyOf(name), announced, content.digest]",
      instead: "[keyOf(name), plan.asOf, content.digest]",
    },
  ]),
  ...mutantsOf("domain/fetch/document-version.ts", [
    {
      name: "announce each read",
      breaks: same,
      code: "announced = news ? ",
      instead: "announced = true ? ",
    },
    {
      name: "announce a document before an older one",
      breaks: same,
      code: "Math.max(asOf, (known?.announced ?? 0) + 1)",
      instead: "asOf",
    },
  ]),
];

const waiting: readonly ProtocolMutant[] = [
  ...mutantsOf("proof/model/table/state-tasks.ts", [
    {
      name: "check a start from before its call",
      breaks: fetched,
      code: "documentTask(subject, { endpoint }, message.sentAt,",
      instead: "documentTask(subject, { endpoint }, message.sentAt - 5_000,",
    },
    {
      name: "check no start",
      breaks: fetched,
      code: "world.checks.send({",
      instead: "Array.of({",
    },
  ]),
  ...mutantsOf("domain/fetch/waiting.ts", [
    {
      name: "spread the longest wait widely",
      breaks: kept,
      code: "maxSeconds * (1 - random / 64)",
      instead: "maxSeconds * (1 - random / 2)",
    },
    {
      name: "wait half as long as can be",
      breaks: kept,
      code: "return Math.max(1, Math.min(maxSeconds, Math.ceil(wait)));",
      instead: "return Math.max(1, Math.min(maxSeconds / 2, Math.ceil(wait)));",
    },
    {
      name: "leave a task to SQS that is received too often",
      breaks: kept,
      code: "maxReceives: maxReceiveCount - receivesForCrashes,",
      instead: "maxReceives: maxReceiveCount + receivesForCrashes,",
    },
    {
      name: "leave a task to SQS that is too old",
      breaks: kept,
      code: "|| ageInSeconds >= limits.maxAgeSeconds",
      instead: "",
    },
  ]),
  ...mutantsOf("proof/model/table/operate.ts", [
    {
      name: "erase no pages",
      breaks: erased,
      code: "of [world.objects, world.pages])",
      instead: "of [world.objects])",
    },
    {
      name: "erase in one pass",
      breaks: erased,
      code: "if (pass === 1)",
      instead: "if (pass !== 1 && pass !== 2)",
    },
    {
      name: "delete a dead letter of which nothing was sent",
      breaks: kept,
      code: 'yield* step("redrives a dead letter", () => sendTask(world, body, id));',
      instead: "",
    },
  ]),
];

/** What fetch does, waits for and erases, done wrong. */
export const fetchMutants: readonly ProtocolMutant[] = [...fetching, ...waiting];
