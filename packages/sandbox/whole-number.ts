import { InvalidArgumentError } from "commander";

/** Parses an option's value: a whole number between two inclusive bounds. */
export function wholeNumber(least: number, most = 999_999_999): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}
