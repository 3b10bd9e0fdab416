import type { ProtocolMutant } from "./protocol-mutant.ts";

const breaks = "Erased stays erased";
const tests = ["test/functions/erase/erasure-law.int.test.ts"];

/** What the eraser does, done wrong in ways that only the law of erasure notices. */
export const erasingMutants: readonly ProtocolMutant[] = [
  {
    name: "take dead letters that another reader holds for none",
    breaks,
    file: "functions/erase/dead-letters.ts",
    code: "if (looks < mostLooks && (isHidden || hasFound))",
    instead: "if (looks < mostLooks && hasFound)",
    tests,
  },
  {
    name: "look at the dead letters in one pass",
    breaks,
    file: "functions/erase/records.ts",
    code: 'task.isThorough ? "dead letters"',
    instead: 'task.isThorough && task.pass === 1 ? "dead letters"',
    tests,
  },
];
