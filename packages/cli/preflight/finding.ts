/** Something that stands in the way of a deployment, or of what it is for. */
export type Finding = {
  readonly what: string;
  /** What would happen. */
  readonly why: string;
  readonly fix: string;
};

/** Numbered, each with what would happen and what fixes it. */
export function findingsText(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ what, why, fix }, index) => {
    const number = `${index + 1}. `;
    const indent = " ".repeat(number.length);
    return [`${number}${what}`, `${indent}${why}`, `${indent}Fix it: ${fix}`, ""];
  });
}
