export type DeployedPipeline = {
  readonly stage: string;
  readonly stack: string;
  /** Prefix of its logical ids in the stack; empty if it is the whole stack. */
  readonly id: string;
  /** By name, without the prefix. */
  readonly outputs: Readonly<Record<string, string>>;
};

/** Prefixes of the names of stacks that hold one pipeline alone. */
export const stackPrefix = "income-events-";

/** An output that every pipeline has, and nothing else. */
const mark = "SettingsDigest";

/**
 * The pipelines of a stack. `PayrollTableName` is the output `TableName` of the pipeline `Payroll`; outputs
 * without the prefix of a pipeline belong to the one without a prefix.
 */
export function pipelinesIn(
  stack: string,
  outputs: Readonly<Record<string, string>>,
): readonly DeployedPipeline[] {
  const names = Object.keys(outputs);
  const ids = names.filter((name) => name.endsWith(mark)).map((name) => name.slice(0, -mark.length));
  // A stack with our prefix is a pipeline even without that output; whoever needs the output reports it
  // missing.
  if (ids.length === 0 && stack.startsWith(stackPrefix)) ids.push("");
  // `PayrollTestTableName` belongs to `PayrollTest`, not to `Payroll`.
  const longestFirst = ids.toSorted((one, other) => other.length - one.length);
  return ids.toSorted().map((id) => {
    const own = names.filter((name) => longestFirst.find((each) => name.startsWith(each)) === id);
    const values = Object.fromEntries(own.map((name) => [name.slice(id.length), outputs[name] ?? ""]));
    return { stage: values.Stage ?? stack.replace(stackPrefix, ""), stack, id, outputs: values };
  });
}

/**
 * Selects the logical ids of a pipeline's resources: `PayrollTestUsersStore` belongs to `PayrollTest`, not to
 * `Payroll`.
 * @param all the pipelines of its stack
 */
export function resourcesOf(
  { id }: Pick<DeployedPipeline, "id">,
  all: readonly Pick<DeployedPipeline, "id">[],
): RegExp {
  const others = all.filter((other) => other.id !== id && other.id.startsWith(id));
  const endings = others.map((other) => other.id.slice(id.length)).join("|");
  return new RegExp(`^${id}${endings === "" ? "" : `(?!${endings})`}`);
}

/** The form of `--pipeline`: the stack, and the construct in it. */
export function nameOf({ stack, id }: Pick<DeployedPipeline, "stack" | "id">): string {
  return id === "" ? stack : `${stack}-${id}`;
}

/** Whether `--stage` and `--pipeline` select it; for the latter the construct's id is enough. */
export function isMeant(
  one: Pick<DeployedPipeline, "stage" | "stack" | "id">,
  { stage, pipeline }: { readonly stage?: string; readonly pipeline?: string },
): boolean {
  if (stage !== undefined && one.stage !== stage) return false;
  return pipeline === undefined || pipeline === one.id || pipeline === nameOf(one);
}
