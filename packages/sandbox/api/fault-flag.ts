import { answerEncodings } from "./encodings.ts";
import { type Fault, faultEffects } from "./faults.ts";

/** How a fault is written on the command line. */
export const faultFlagForm = "status or effect[:count or share%][:path]";

/**
 * Reads a fault as it is written on the command line: `503`, `429:10%`, `hang:3:/users`. Without a count or share it
 * happens to every call.
 * @throws a range error that says how it is written
 */
export function parseFaultFlag(text: string): Fault {
  const [what = "", amount = "100%", ...path] = text.split(":");
  return {
    ...parseWhat(what),
    ...parseAmount(amount),
    ...(path.length === 0 ? {} : { path: path.join(":") }),
  };
}

function parseWhat(text: string): Pick<Fault, "status" | "effect"> {
  if (/^\d{3}$/.test(text)) return { status: Number(text) };
  const effects = [...faultEffects, ...answerEncodings];
  const effect = effects.find((known) => known === text);
  if (effect !== undefined) return { effect };
  throw new RangeError(`"${text}" is no status and none of ${effects.join(", ")}`);
}

function parseAmount(text: string): Pick<Fault, "times" | "share"> {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  if (number === undefined) throw new RangeError(`"${text}" is no count and no share: write 3, or 10%`);
  return percent === "%" ? { share: Number(number) / 100 } : { times: Number(number) };
}
