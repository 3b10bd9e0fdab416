import { ReceiveMessageCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import {
  functionResources,
  mappingResource,
  queueResource,
  receiving,
  writeAssembly,
} from "../../../support/assembly.ts";
import { operatorClients } from "../stack/operator-clients.ts";

type Settings = {
  readonly handler: string;
  readonly mapping?: Readonly<Record<string, unknown>>;
  readonly queue?: Readonly<Record<string, unknown>>;
  readonly function?: Readonly<Record<string, unknown>>;
  readonly maximumProcesses?: number;
};

/** Messages come back after seconds; no shorter than a process takes to begin on a busy machine. */
export const comingBack = { queue: { VisibilityTimeout: 4 }, function: { Timeout: 4 } };

/** A queue `Work` with a dead-letter queue, and a function that logs each batch's bodies before it handles it. */
export async function startWork(settings: Settings) {
  const assembly = await writeAssembly({
    assets: {
      Store: `
        const handle = ${settings.handler};
        export const handler = async (event) => {
          console.log(event.Records.map(({ body }) => body).sort().join(" "));
          return handle(event);
        };`,
    },
    resources: {
      ...queueResource("Dead"),
      ...queueResource("Work", {
        VisibilityTimeout: 60,
        RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["Dead", "Arn"] }, maxReceiveCount: 3 },
        ...settings.queue,
      }),
      ...functionResources("Store", {
        allow: [receiving("Work")],
        properties: { Timeout: 30, ...settings.function },
      }),
      ...mappingResource("Mapping", ["Work", "Arn"], "Store", settings.mapping),
    },
  });
  const stack = await startStack({
    assembly: assembly.directory,
    ...(settings.maximumProcesses && { maximumProcesses: settings.maximumProcesses }),
  });
  const clients = operatorClients(stack);
  const url = (name: string): string => stack.queues.get(name)?.url ?? "";
  // Without what the runtime writes of a handler that throws.
  const log = (): readonly string[] =>
    (stack.functions[0]?.log() ?? []).filter((line) => !line.includes("\tERROR\t"));
  return {
    stack,
    clients,
    log,
    url,
    send: async (...bodies: string[]) => {
      const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
      await clients.sqs.send(new SendMessageBatchCommand({ QueueUrl: url("Work"), Entries }));
    },
    dead: async () => {
      const command = new ReceiveMessageCommand({ QueueUrl: url("Dead"), MaxNumberOfMessages: 10 });
      return ((await clients.sqs.send(command)).Messages ?? []).map(({ Body }) => Body);
    },
    [Symbol.asyncDispose]: async () => {
      clients[Symbol.dispose]();
      await stack.close();
      await assembly[Symbol.asyncDispose]();
    },
  };
}

export const drained = (stack: LocalStack) => stack.drained({ deadline: 120_000 });
/** How often each body was received, from the logged batches. */
export function receipts(log: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const body of log.flatMap((line) => line.split(" "))) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
}
