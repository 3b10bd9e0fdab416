import { z } from "zod";

type WithOutputs = { readonly outputs: Readonly<Record<string, string>> };

const subscribersOutput = z.array(
  z.object({
    name: z.string(),
    types: z.array(z.string()).optional(),
    principals: z.array(z.string()).default([]),
    queueUrl: z.string(),
  }),
);

export type SubscriberOutput = z.output<typeof subscribersOutput>[number];

/**
 * Returns an output of the pipeline, by default of the first.
 * @throws naming the output if the assembly has none
 */
export function outputOf({ outputs }: WithOutputs, name: string): string {
  const value = firstOf(outputs)[name] ?? outputs[name];
  if (value === undefined) throw new Error(`The assembly has no output ${name}: is it this pipeline's?`);
  return value;
}

export function subscribersOf(stack: WithOutputs): readonly SubscriberOutput[] {
  return subscribersOutput.parse(JSON.parse(outputOf(stack, "Subscribers")));
}

/** Queue URLs by a short name: `users`, `users-dead-letter`, `subscriber-everything`. */
export function queuesOf({ outputs }: WithOutputs): Readonly<Record<string, string>> {
  const urls = Object.entries(firstOf(outputs)).filter(([name]) => name.endsWith("QueueUrl"));
  return Object.fromEntries(urls.map(([name, url]) => [kebabCase(name.replace(/QueueUrl$/, "")), url]));
}

export function deadLetterQueuesOf(
  stack: WithOutputs,
): readonly { readonly url: string; readonly source: string }[] {
  const queues = queuesOf(stack);
  return Object.entries(queues).flatMap(([name, source]) => {
    const url = queues[`${name}-dead-letter`];
    return url === undefined ? [] : [{ url, source }];
  });
}

function firstOf(outputs: WithOutputs["outputs"]): WithOutputs["outputs"] {
  return pipelinesIn(outputs)[0]?.outputs ?? outputs;
}

function kebabCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/**
 * A pipeline in a stack: its id, which prefixes its outputs and parameters, and its outputs without the
 * prefix.
 */
export type PipelineOutputs = {
  /** The construct's id; empty if the pipeline is the stack. */
  readonly id: string;
  readonly outputs: Readonly<Record<string, string>>;
};

/** An output that only pipelines have, and each has. */
const mark = "SettingsDigest";

/** Ids of the pipelines in a stack, by the names of its outputs; at least one. */
export function pipelineIds(outputNames: readonly string[]): readonly string[] {
  const ids = outputNames.filter((name) => name.endsWith(mark)).map((name) => name.slice(0, -mark.length));
  return ids.length === 0 ? [""] : ids;
}

/**
 * Groups outputs by pipeline: `PayrollTableName` is the output `TableName` of the pipeline `Payroll`; others
 * belong to the one with an empty id.
 */
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
