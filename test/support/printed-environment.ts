/** What `local show` prints for a subscriber's program: its environment, and the command that starts one. */
export function printedFor(subscriber: string, details: string) {
  const [, block = ""] = details.split(`For the subscriber ${subscriber}, `);
  const [own = ""] = block.split("\n\n");
  const pairs = [...own.matchAll(/^ {2}export (.*)$/gm)].flatMap(([, line = ""]) => line.split(" "));
  const environment: Readonly<Record<string, string>> = Object.fromEntries(
    pairs.map((pair) => pair.split(/=(.*)/s)),
  );
  return { environment, command: /^ {2}(node .*)$/m.exec(own)?.[1] };
}
