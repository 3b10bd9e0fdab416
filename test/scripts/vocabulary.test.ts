import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const repository = join(import.meta.dirname, "../..");

/** What was once said here alone, and the standard word for it. */
const retired: readonly (readonly [old: RegExp, standard: string])[] = [
  [/(?<!dead-)\bletter-archive\b|(?<!DEAD_)LETTERS_ARCHIVED/u, "dead-letter-archive"],
  [/\b(?:Unrelayed|RelayAgain)\b/u, "FailedRecord"],
  [/\b(?:judgeState|weighState|settleState)\b/u, "applyEvent, decideOutcome, applyProviderAnswer"],
  [/\b(?:tellSame|Latest(?=Message))\b/u, "haveSameMessage"],
  [/\bmayHaveForgotten\b/u, "isHistoryFull"],
  [/\bretell/u, "replay"],
  [/\b(?:contradicted|unlisted)\b/u, "conflicting, orphaned"],
  [/\b(?:reconciliationGap|ReconciliationGap|gapOfRun)\b/u, "drift"],
  [/\b(?:EventFacts|isWeak)\b/u, "EventAttributes, isUnordered"],
  [/\bparseMoment/u, "parseTimestamp"],
  [/\blateArrival\b/u, "eraseTaskForLateData"],
  [/\b(?:mostTries|mostBytes|mostAttempts)\b/u, "maxAttempts, maxBytes"],
  [/\b(?:isPassing|withOwnReasons|hearsOf)\b/u, "isTransient, sanitizeErrors, addAlarmActions"],
  [/\b(?:divideWaits|waitingTime|workingTime)\b/u, "scaleDurations, scalableDuration, fixedDuration"],
  [/\b(?:wayOf|event-way|way of the data)\b/u, "eventTimeline, data flow"],
  [/\b(?:witnesses|owing|spoilings|mendAll|calmDown)\b/u, "observers, pendingFaults, corruptions, recover"],
  [/\b(?:settleSeconds|settlesInSeconds|sandbox\.settled)\b/u, "drainSeconds, readyInSeconds, waitUntilIdle"],
  [/\b(?:small letters|foreseen|told of)\b/u, "lower case, provisionalPlan, announced"],
  [/\bto mend\b|\bmended\b/u, "to fix, fixed"],
];

/** Decisions and the change log say what was so when they were written; this file names the words. */
const written = execFileSync("git", ["ls-files", "-z", "--", "*.ts", "*.tsx", "*.md", "*.json", "*.css"], {
  cwd: repository,
  encoding: "utf8",
})
  .split("\0")
  .filter(
    (path) => path !== "" && !/^(?:docs\/adr\/|CHANGELOG|package-lock|test\/tools\/vocabulary)/u.test(path),
  );

describe("the words of code and documents", () => {
  it("are the standard ones wherever a file had a word of its own before", () => {
    expect(written.length).toBeGreaterThan(500);
    const found = written.flatMap((path) => {
      const text = readFileSync(join(repository, path), "utf8");
      return retired.flatMap(([old, standard]) => {
        const word = old.exec(text)?.[0];
        return word === undefined ? [] : [`${path}: "${word}" is ${standard}`];
      });
    });
    expect(found).toEqual([]);
  });
});
