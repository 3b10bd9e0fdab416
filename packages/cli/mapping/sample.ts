import { plainBody } from "../../../adapters/aws/content.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import { parseExact } from "../../../domain/event/lossless-json.ts";
import { inspectPayload } from "../../../domain/event/payload.ts";
import { CommandError } from "../core/command-error.ts";

/** A webhook in a file: the body's bytes, and headers by lower-case name. */
export type Sample = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
};

const headerLine = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*?)[ \t]*$/;
const requestLine = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/;

/**
 * Reads a sample file. If its name ends in `.http`, it has an optional request line, headers, an empty line,
 * and the body; any other file is a body.
 * @throws CommandError naming a line that is not a header
 */
export function parseSample(name: string, content: Buffer): Sample {
  if (!name.endsWith(".http")) return { name, bytes: content, headers: {} };
  const end = /\r?\n\r?\n/.exec(content.toString("latin1"));
  const head = content.subarray(0, end?.index ?? content.length).toString("utf8");
  const bytes = content.subarray(end === null ? content.length : end.index + end[0].length);
  const lines = head.split(/\r?\n/).filter((line, index) => index > 0 || !requestLine.test(line));
  return { name, bytes, headers: parseHeaders(lines.filter(Boolean), name) };
}

/** @throws CommandError naming the first line that is not a header */
export function parseHeaders(lines: readonly string[], where: string): Sample["headers"] {
  const entries = lines.map((line, index) => {
    const [, header, value = ""] = headerLine.exec(line) ?? [];
    if (header !== undefined) return [header.toLowerCase(), value] as const;
    throw CommandError.usage(`${where}: header ${index + 1} is none. Write "name: value" on a line.`);
  });
  return Object.fromEntries(entries);
}

/**
 * Decodes a sample's content codings, and its text to UTF-8, as a receiver does. The event's identity is that
 * of these bytes.
 * @throws CommandError if it can't be decoded, or exceeds the limit when decompressed
 */
export async function plainSample(sample: Sample, maxBytes: number): Promise<Sample> {
  const { name, bytes, headers } = sample;
  const tooLarge = () => CommandError.usage(`${name} inflates to over ${maxBytes} bytes.`);
  try {
    return { ...sample, bytes: await plainBody(bytes, headers, maxBytes, tooLarge) };
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    throw CommandError.usage(`${name} is not in its content coding: a receiver answers 503.`);
  }
}

/**
 * Reads a body as a receiver does, without live credentials of users.
 * @returns the parsed body, or why it is refused before it is mapped
 */
export function readSample(sample: Sample): { readonly body: unknown } | { readonly refused: string } {
  const payload = inspectPayload(sample.bytes, sample.headers);
  if (!payload.ok) return { refused: payload.error };
  return { body: parseExact(Buffer.from(payload.bytes).toString("utf8"), "the body") };
}
