import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { type LocalStack, type StackOptions, startStack } from "@income-events/local-stack/stack.ts";
import { type AssemblySource, writeAssembly } from "../../../support/assembly.ts";

/** Clients that may do everything in a running stack. */
export function operatorClients(stack: LocalStack) {
  const settings = { region: stack.region, endpoint: stack.gatewayUrl, credentials: stack.operator };
  const clients = {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    s3: new S3Client(settings),
  };
  return {
    ...clients,
    [Symbol.dispose]: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}

/** A stack of a small assembly, with clients that may do everything in it. */
export async function started(source: AssemblySource, options: Partial<StackOptions> = {}) {
  const assembly = await writeAssembly(source);
  const stack = await startStack({ assembly: assembly.directory, ...options }).catch(
    async (error: unknown) => {
      await assembly[Symbol.asyncDispose]();
      throw error;
    },
  );
  const clients = operatorClients(stack);
  return {
    stack,
    clients,
    /** A queue's URL by name. */
    url: (queue: string): string => stack.queues.get(queue)?.url ?? "",
    /** Lines of the first function, without the runtime's lines for errors. */
    log: (): readonly string[] =>
      (stack.functions[0]?.log() ?? []).filter((line) => !line.includes(`"level":"ERROR"`)),
    drained: () => stack.drained({ deadline: 120_000 }),
    [Symbol.asyncDispose]: async () => {
      clients[Symbol.dispose]();
      await stack.close();
      await assembly[Symbol.asyncDispose]();
    },
  };
}
