export type DynamoDbEngine = "dynamodb-local" | "dynoxide";

export type RunningDynamoDb = {
  readonly url: string;
  /** For people: which engine answers, and where from. */
  readonly name: string;
  close(): Promise<void>;
};

/** Starts the table engine. */
export async function startDynamoDb(
  options: { readonly engine?: DynamoDbEngine } = {},
): Promise<RunningDynamoDb> {
  throw new Error(`${options.engine ?? "the engine"} is not built yet`);
}
