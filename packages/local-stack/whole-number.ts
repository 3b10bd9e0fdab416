import { InvalidArgumentError } from "commander";

/** A parser of an option's value: a whole number between two bounds, both included. */
export function wholeNumber(least: number, most = 999_999_999): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
  };
}
