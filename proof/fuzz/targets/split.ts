/** An input cut at its first empty line: what stands before it and after it; without one all of it stands after. */
export function splitAtEmptyLine(input: Uint8Array): { readonly head: string; readonly rest: Uint8Array } {
  const at = Buffer.from(input).indexOf("\n\n");
  if (at === -1) return { head: "", rest: input };
  return { head: Buffer.from(input.subarray(0, at)).toString("utf8"), rest: input.subarray(at + 2) };
}

/** One of several, chosen by an input's first byte, and the bytes after it. */
export function chosenBy<T>(choices: readonly [T, ...T[]], input: Uint8Array): readonly [T, Uint8Array] {
  const [first] = choices;
  return [choices[(input[0] ?? 0) % choices.length] ?? first, input.subarray(1)];
}

/** So that a seed's first byte chooses, as `chosenBy` reads it. */
export function choosing(index: number, text: string): string {
  return `${String.fromCharCode(48 + index)}${text}`;
}
