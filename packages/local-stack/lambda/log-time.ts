const first = /^\{"timestamp":"([^"]+)"/;

/**
 * When a line was logged, in milliseconds since 1970.
 * @param before of the line before it, which stands for a line that does not say
 */
export function timeOfLine(line: string, before: number): number {
  const time = Date.parse(first.exec(line)?.[1] ?? /"time(?:stamp)?":"([^"]+)"/.exec(line)?.[1] ?? "");
  return Number.isNaN(time) ? before : time;
}
