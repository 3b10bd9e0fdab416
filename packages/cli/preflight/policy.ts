import { escapePattern } from "../../../domain/core/escape-pattern.ts";
import { fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";

type Statement = {
  readonly principals: readonly string[];
  readonly actions: readonly string[];
};

/** The allowing statements of a resource's policy; conditions are left out. */
export function parsePolicy(text: string | undefined): readonly Statement[] {
  if (text === undefined) return [];
  const { Statement } = fieldsOf(parseJson(text, "the policy"), "the policy");
  return listOf(Statement)
    .filter(isFields)
    .filter(({ Effect }) => Effect === "Allow")
    .map(({ Principal, Action }) => ({ principals: principalsOf(Principal), actions: textsOf(Action) }));
}

/** Whether a principal may do something: as far as the policy says who and what, under whichever condition. */
export function allows(statements: readonly Statement[], principal: string, action: string): boolean {
  return statements.some(
    ({ principals, actions }) =>
      principals.some((each) => each === "*" || each === principal) &&
      actions.some((each) => matches(each, action)),
  );
}

/** Names of actions are compared without case; `*` stands for anything. */
function matches(pattern: string, action: string): boolean {
  const parts = pattern.split("*").map(escapePattern);
  return new RegExp(`^${parts.join(".*")}$`, "i").test(action.replace(/\*$/, ""));
}

function principalsOf(principal: unknown): readonly string[] {
  return isFields(principal) ? Object.values(principal).flatMap(textsOf) : textsOf(principal);
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
