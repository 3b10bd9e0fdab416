import { randomBytes } from "node:crypto";

/**
 * All ids of a run begin with its mark: a UUID of version 8 (RFC 9562: the rest is the application's own), without
 * its last two digits. Every mark begins alike, so that people and subscribers know what no provider sent.
 */
const everyMark = "5e57da7a";
const markForm = /^5e57da7a-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{10}$/;

/** A new run's mark: 80 random bits. */
export function newMark(): string {
  const digits = randomBytes(10).toString("hex");
  const part = (from: number, to: number) => digits.slice(from, to);
  return [everyMark, part(0, 4), `8${part(4, 7)}`, `a${part(7, 10)}`, part(10, 20)].join("-");
}

export function isMark(text: string): boolean {
  return markForm.test(text);
}

/** One of a run's 256 ids. */
export function idOf(mark: string, index: number): string {
  return `${mark}${index.toString(16).padStart(2, "0")}`;
}
