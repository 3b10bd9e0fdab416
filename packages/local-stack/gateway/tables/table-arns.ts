import type { Place } from "../operation.ts";

/**
 * The engines put a region of their own into ARNs (`ddblocal`, `dynoxide`). Callers and policies see the local
 * system's region; this translates in both directions, having learned the engine's from its answers.
 */
export type TableArns = {
  /** The ARN of a table that is named by its name or ARN. */
  table(nameOrArn: string): string;
  forCaller(answer: string): string;
  forEngine(arn: string): string;
};

export function createTableArns(scope: Place): TableArns {
  const own = `arn:aws:dynamodb:${scope.region}:${scope.account}:table/`;
  let engine = own;
  return {
    table: (nameOrArn) => (nameOrArn.startsWith("arn:") ? nameOrArn : own + nameOrArn),
    forCaller: (answer) => {
      engine = /"(arn:aws:dynamodb:[^:"]*:\d*:table\/)/.exec(answer)?.[1] ?? engine;
      return answer.replaceAll(`"${engine}`, `"${own}`);
    },
    forEngine: (arn) => (arn.startsWith(own) ? engine + arn.slice(own.length) : arn),
  };
}
