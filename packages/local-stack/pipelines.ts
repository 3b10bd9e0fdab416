/** A pipeline in a stack: what its outputs and parameters begin with, and the outputs without that. */
export type PipelineOutputs = {
  /** The construct's id; empty where the pipeline is the stack. */
  readonly id: string;
  readonly outputs: Readonly<Record<string, string>>;
};

/** An output that each pipeline has, and nothing else. */
const mark = "SettingsDigest";

/** The ids of the pipelines in a stack, by the names of its outputs; at least one. */
export function pipelineIds(outputNames: readonly string[]): readonly string[] {
  const ids = outputNames.filter((name) => name.endsWith(mark)).map((name) => name.slice(0, -mark.length));
  return ids.length === 0 ? [""] : ids;
}

/** `PayrollTableName` is the output `TableName` of the pipeline `Payroll`; others are of the one whose id is empty. */
export function pipelinesIn(outputs: Readonly<Record<string, string>>): readonly PipelineOutputs[] {
  const names = Object.keys(outputs);
  const ids = pipelineIds(names);
  const longestFirst = ids.toSorted((one, other) => other.length - one.length);
  return ids.map((id) => {
    const own = names.filter((name) => longestFirst.find((each) => name.startsWith(each)) === id);
    return {
      id,
      outputs: Object.fromEntries(own.map((name) => [name.slice(id.length), outputs[name] ?? ""])),
    };
  });
}
