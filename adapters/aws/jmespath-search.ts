import { JMESPathTypeError, search } from "@aws-lambda-powertools/jmespath";
import { Functions } from "@aws-lambda-powertools/jmespath/functions";
import type { JSONObject } from "@aws-lambda-powertools/jmespath/types";
import { permanent } from "../../domain/core/failures.ts";
import { exactNumber, hasRawNumber, isRawNumber } from "../../domain/event/lossless-json.ts";
import type { Search } from "../../domain/event/mapping.ts";
import { mergeEach, quotedInExpression } from "../../domain/event/mapping-source.ts";

/** An expression calculates with a raw number, which the library treats as an object. */
class InexactError extends JMESPathTypeError {
  constructor(value: unknown) {
    super({ currentValue: value, actualType: "number", expectedTypes: ["an exact number"] });
  }
}

const language = new Functions();
type Name = Exclude<keyof Functions, "methods" | "introspectMethods">;
const call = (name: Name, args: readonly unknown[]): unknown =>
  Reflect.apply(language[name], language, [args]);

const refuseRaw = (name: Name) => (args: readonly unknown[]) => {
  if (args.some(isRawNumber)) throw new InexactError(args);
  return call(name, args);
};

/** Rejects raw numbers within lists too: the library checks elements only if one type alone is allowed. */
const refuseRawElements = (name: Name) => (args: readonly unknown[]) => {
  if (args.flat().some(isRawNumber)) throw new InexactError(args);
  return call(name, args);
};

const exactSum = (name: "funcSum" | "funcAvg") => (args: readonly unknown[]) => {
  const sum = call("funcSum", args);
  if (Math.abs(Number(sum)) > Number.MAX_SAFE_INTEGER) throw new InexactError(sum);
  return call(name, args);
};

/** The language's functions and `merge_each`, for bodies with numbers that only their digits hold exactly. */
const exactFunctions = Object.assign(new Functions(), {
  funcType: (args: readonly unknown[]) => (isRawNumber(args[0]) ? "number" : call("funcType", args)),
  funcToNumber: (args: readonly unknown[]) => {
    const [value] = args;
    if (isRawNumber(value)) return value;
    const isNumber = typeof value === "string" && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value);
    return isNumber ? exactNumber(value) : call("funcToNumber", args);
  },
  funcContains: (args: readonly unknown[]) => {
    const [list, sought] = args;
    if (!Array.isArray(list) || !isRawNumber(sought)) return call("funcContains", args);
    return list.some((each) => isRawNumber(each) && each.rawJSON === sought.rawJSON);
  },
  funcSum: exactSum("funcSum"),
  funcAvg: exactSum("funcAvg"),
  funcKeys: refuseRaw("funcKeys"),
  funcLength: refuseRaw("funcLength"),
  funcMax: refuseRawElements("funcMax"),
  funcMerge: refuseRaw("funcMerge"),
  funcMin: refuseRawElements("funcMin"),
  funcSort: refuseRawElements("funcSort"),
  funcValues: refuseRaw("funcValues"),
  funcMergeEach: ([list, object]: readonly unknown[]) => mergeEach(list, object),
});
/** Cached: the library collects them for each search, which takes longer than most searches. */
const found = exactFunctions.introspectMethods().add("funcMergeEach");
exactFunctions.methods.add("funcMergeEach");
exactFunctions.introspectMethods = () => found;

/** Evaluates JMESPath on the output of `parseExact`. The library caches compiled expressions. */
export const jmespathSearch: Search = (expression, data) => {
  try {
    // The library gives no result if it compares a number with an object, and so with a raw number.
    if (comparesSizes(expression) && hasRawNumber(data)) throw new InexactError(data);
    return search(expression, data as JSONObject, { customFunctions: exactFunctions });
  } catch (error) {
    const isInexact =
      error instanceof InexactError ||
      (error instanceof JMESPathTypeError && isRawNumber(error.currentValue));
    if (isInexact)
      throw permanent("the expression calculates with a number that only its digits hold exactly");
    // The library's message may quote a value.
    throw permanent(`the expression fails: ${error instanceof Error ? error.name : "error"}`);
  }
};

function comparesSizes(expression: string): boolean {
  return /[<>]/.test(expression) && /[<>]/.test(expression.replace(quotedInExpression, ""));
}
