/** What differs from one recording to the next, and what stands for it. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d{2}-\d{2}t\d{6}-[0-9a-f]{6}\b/g, "RUN"],
  [/\b\d{4}-\d{2}-\d{2}[T ][\d:.]+( ?UTC|Z)/g, "TIME"],
  [/\b\d{4}-\d{2}-\d{2}\.\.\d{4}-\d{2}-\d{2}/g, "DATES"],
  // Webhooks name a range of weeks, which is another one from some midnight on.
  [/"\d{4}-\d{2}-\d{2}"/g, "DAY"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "ID"],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, "DIGEST"],
  // Of the stage's own key, in the audit trail.
  [/ (erase +user) +\S{8} /g, " $1 DIGEST "],
  [/^(claim (iat|exp)) +\d+$/gm, "$1 SECONDS"],
  // Which of the events that came at the same moment is first, and what it then changed.
  [/^TIME +(user|account|endpoint)\.\w+ .*$/gm, "EVENT"],
  [/^(processed) .*$/gm, "$1"],
  // Whether the check of a start had an endpoint read as a whole, besides the dates that its event named.
  [/^[a-z]+ +(DATES|-) +TIME +.*$/gm, "DOCUMENT"],
  [/^ *(profile|income|employment)(\/DATES)?:$/gm, "DOCUMENT:"],
  [/latest: .*$/gm, "latest"],
  [/\b\d+[smhd]( \d+[smhd])?\b/g, "SPAN"],
  // A busy machine is late, raises alarms of that, has webhooks sent twice, and messages received again.
  [/, received (once|\d+ times)/g, ", received"],
  [/^alarms .*$/gm, "alarms"],
  [/^ *\w+ (late|behind) has been on for .*$/gm, ""],
  [/^Fixed already:$|^ *The alarm "\w+ (late|behind)" is still on.*$/gm, ""],
  [/^(received +yes) .*$/gm, "$1"],
  // How many messages have come so far, and how much an erasure found.
  [/^(subscriber\/\w+|everything|accounts +account\.\*) .*$/gm, "$1"],
  [/\bOf \d+ messages/g, "Of N messages"],
  // A document is read for each range of dates that an event names, and as a whole where the check of a start comes first.
  [/\b\d+ documents\b/g, "N documents"],
  [/^Removed so far.*$/gm, "Removed so far"],
  [/^([a-z][a-z ]+) .*\d+\b.*$/gm, "$1"],
  [/ +/g, " "],
];

/**
 * What must be the same each time the page is recorded: commands, their words, columns, names, counts of alarms and dead
 * letters, exit codes. The lines of an output are there once each, in the order of the alphabet: another engine gives them in
 * another order.
 */
export function shapeOf(page: string): readonly string[] {
  const text = varying.reduce((rest, [pattern, word]) => rest.replace(pattern, word), page);
  return text
    .split(/^(?=\$ )/m)
    .flatMap((part) => {
      const [command = "", ...lines] = part.split("\n").map((line) => line.trim());
      return [command, ...[...new Set(lines)].toSorted()];
    })
    .filter((line) => line !== "");
}
