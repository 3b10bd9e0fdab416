import type { ProtocolMutant } from "./protocol-mutant.ts";

const covered = ["test/functions/fetch/covered-tasks.int.test.ts"];
const starting = ["test/functions/fetch/starting.int.test.ts"];
const deciding = ["test/functions/fetch/retry-decision.int.test.ts"];
const relaying = ["test/functions/relay/relay-failures.int.test.ts"];

/** What the relay and the fetcher do with tasks in their own code, which the model of the table does in code of its own. */
export const fetchingMutants: readonly ProtocolMutant[] = [
  {
    name: "pass a record whose task was not sent",
    breaks: "Nothing stored without its consequences",
    file: "functions/relay/outbox.ts",
    code: "const failure = failureOfKey.get(mergeKeyOf(task));",
    instead: "const failure = failureOfKey.get(mergeKeyOf(task)) && undefined;",
    tests: relaying,
  },
  {
    name: "send each task in a group of its own",
    breaks: "Called as rarely as can be, and never above the rate",
    file: "functions/runtime/fetch-task-message.ts",
    code: "group: groupOf(task)",
    instead: "group: (groupOf(task), deduplicationOf(task))",
    tests: covered,
  },
  {
    name: "go by the fetcher's own clock",
    breaks: "Fetched",
    file: "functions/fetch/fetch-document.ts",
    code: "const now = timeBefore(clock(), tasks);",
    instead: "const now = timeBefore(clock() && Date.now(), tasks);",
    tests: covered,
  },
  {
    name: "call for the tasks of who is erased",
    breaks: "Erased stays erased",
    file: "functions/fetch/fetch-document.ts",
    code: "tasks.filter((task) => !gone.has(task)),",
    instead: "tasks,",
    tests: covered,
  },
  {
    name: "end a task whose document was not written",
    breaks: "Fetched",
    file: "functions/fetch/fetch-document.ts",
    code: 'if (outcome === "done") return "done";',
    instead: 'if (outcome !== undefined) return "done";',
    tests: covered,
  },
  {
    name: "take a write that has no answer for made",
    breaks: "Fetched",
    file: "functions/fetch/fetch-document.ts",
    code: 'return { answer: "unknown", error,',
    instead: 'return { answer: "accepted", error,',
    tests: covered,
  },
  {
    name: "let the waits for the rate double",
    breaks: "Called as rarely as can be, and never above the rate",
    file: "functions/fetch/retry-decision.ts",
    code: 'const isForPermit = waitsFor === "permit";',
    instead: "const isForPermit = waitsFor === undefined;",
    tests: deciding,
  },
  {
    name: "never give a task up that may come again",
    breaks: "Never dropped silently",
    file: "functions/fetch/retry-decision.ts",
    code: "if (isGivenUp(receives, ageInSeconds, limits)) {",
    instead: "if (isGivenUp(receives, ageInSeconds, limits) && receives < 0) {",
    tests: deciding,
  },
  {
    name: "check a start while it can still be answered",
    breaks: "Called as rarely as can be, and never above the rate",
    file: "functions/fetch/verify-start.ts",
    code: 'if (wait > 0) throw waiting("the start can still be answered", wait, 0);',
    instead: "",
    tests: starting,
  },
  {
    name: "announce the data of each read",
    breaks: "A message is the same whenever it is sent again",
    file: "domain/message/consequences.ts",
    code: "after.announced === undefined || before?.announced === after.announced;",
    instead: "after.announced === undefined;",
    tests: ["test/domain/message/consequences.test.ts"],
  },
];
