import type { Terminal } from "../core/terminal.ts";
import type { Finding, Severity } from "./finding.ts";

export type Cause = Finding & { readonly follows: readonly Finding[] };

const withoutToken = [
  "token-refused",
  "token-missing",
  "token-at-risk",
  "token-refresh-failing",
  "webhooks-unknown",
  "provider-down",
  "fetching-late",
  "fetching-behind",
  "reconciliation-incomplete",
  "registration-failing",
];

/** The findings that each finding can cause, by code. The first cause that was found is named. */
const consequences: readonly (readonly [cause: string, consequences: readonly string[]])[] = [
  ["token-missing", withoutToken],
  ["token-refused", withoutToken],
  ["token-expired", withoutToken],
  [
    "provider-down",
    [
      "webhooks-unknown",
      "token-questioned",
      "token-refresh-failing",
      "token-at-risk",
      "fetching-late",
      "fetching-behind",
      "reconciliation-incomplete",
      "registration-failing",
      "nothing-received",
    ],
  ],
  ["token-questioned", ["webhooks-unknown"]],
  [
    "webhook-secret-empty",
    ["webhooks-failing", "webhooks-refused", "registration-failing", "nothing-received", "webhooks-missed"],
  ],
  ["webhooks-unsigned", ["webhooks-refused", "nothing-received", "webhooks-missed"]],
  ["webhooks-without-secret", ["webhooks-refused", "nothing-received", "webhooks-missed"]],
  ["webhooks-elsewhere", ["nothing-received", "webhooks-missed"]],
  ["webhooks-unregistered", ["nothing-received", "webhooks-missed"]],
  [
    "function-failed",
    [
      ...[
        "events-late",
        "events-failing",
        "fetching-late",
        "fetching-failing",
        "relay-behind",
        "relay-failing",
      ],
      ...["erasure-late", "erasure-failing", "reads-failing", "reconciliation-failing"],
    ],
  ],
  [
    "event-source-off",
    ["events-late", "fetching-late", "fetching-behind", "relay-stopped", "erasure-late", "deadlines-behind"],
  ],
  ["events-dead-letters", []],
  ["fetching-dead-letters", []],
  ["deadline-dead-letters", []],
  ["erasure-dead-letters", []],
  ["undelivered-changes", []],
  ["subscriber-unread", ["subscriber-behind"]],
  ["subscriber-behind", []],
  ["subscriber-dead-letters", []],
];

const severities: readonly Severity[] = ["error", "warning", "info"];

/**
 * Groups findings by cause: a consequence is listed under its cause, and an alarm under the finding that it
 * watches.
 * @param findings those of alarms last
 */
export function byCause(findings: readonly Finding[]): readonly Cause[] {
  const causes = findings.toSorted(compare);
  const roots: Finding[] = [];
  const followsOf = new Map<Finding, Finding[]>();
  for (const finding of causes) {
    const cause = roots.find((root) => isCause(root, finding));
    if (cause === undefined) roots.push(finding);
    else followsOf.set(cause, [...(followsOf.get(cause) ?? []), finding]);
  }
  return roots.map((root) => ({ ...root, follows: followsOf.get(root) ?? [] }));
}

function isCause(root: Finding, finding: Finding): boolean {
  if (root.severity === "info" || finding.severity === "info") return false;
  if (finding.isAlarm === true && root.code === finding.code) return true;
  return consequencesOf(root.code).includes(finding.code);
}

function consequencesOf(code: string): readonly string[] {
  return consequences.find(([cause]) => cause === code)?.[1] ?? [];
}

/** Orders errors before warnings, causes before consequences, and alarms after findings. */
function compare(one: Finding, other: Finding): number {
  return (
    severities.indexOf(one.severity) - severities.indexOf(other.severity) ||
    Number(one.isAlarm ?? false) - Number(other.isAlarm ?? false) ||
    rankOf(one) - rankOf(other)
  );
}

function rankOf({ code }: Finding): number {
  const rank = consequences.findIndex(([cause]) => cause === code);
  return rank === -1 ? consequences.length : rank;
}

export type Diagnosis = {
  /** Grouped by cause: consequences follow their cause. Resolved findings come last. */
  readonly findings: readonly Cause[];
  readonly checked: readonly string[];
};

export function openFindings(findings: readonly Cause[]): readonly Cause[] {
  return findings.filter(({ severity }) => severity !== "info");
}

/** The diagnosis for people: numbered findings with their consequences, then what is already fixed. */
export function reportText(
  stage: string,
  { findings, checked }: Diagnosis,
  paint: Terminal["paint"] = (_, text) => text,
): string {
  const open = openFindings(findings);
  const fixed = findings.filter(({ severity }) => severity === "info");
  const lines = open.flatMap((cause, index) => [...causeLines(cause, `${index + 1}. `, paint), ""]);
  const over = fixed.length === 0 ? [] : ["Fixed already:", ...fixed.map(({ what }) => `   ${what}`), ""];
  const quiet = open.length === 0 ? [paint("green", `Nothing is wrong with the stage ${stage}.`)] : [];
  return [...lines, ...over, ...quiet, `Checked: ${checked.join(", ")}.`].join("\n");
}

function causeLines(
  { severity, what, why, fix, follows }: Cause,
  number: string,
  paint: Terminal["paint"],
): readonly string[] {
  const indent = " ".repeat(number.length);
  // Without their own remedies, because the cause's remedy fixes them too.
  const consequences = follows.map(({ what: consequence }) => `${indent}- ${consequence}`);
  return [
    `${number}${paint(severity === "error" ? "red" : "yellow", what)}`,
    `${indent}${why}`,
    `${indent}Next: ${fix}`,
    ...(consequences.length === 0 ? [] : [`${indent}Consequences:`, ...consequences]),
  ];
}
