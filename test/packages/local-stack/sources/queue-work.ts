import { ReceiveMessageCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { functionResources, mappingResource, queueResource, receiving } from "../../../support/assembly.ts";
import { started } from "../stack/started.ts";

type Settings = {
  readonly handler: string;
  readonly mapping?: Readonly<Record<string, unknown>>;
  readonly queue?: Readonly<Record<string, unknown>>;
  readonly function?: Readonly<Record<string, unknown>>;
  readonly deadQueue?: Readonly<Record<string, unknown>>;
  readonly maximumProcesses?: number;
};

/** Messages reappear after seconds, but no sooner than a process starts on a busy machine. */
export const comingBack = { queue: { VisibilityTimeout: 4 }, function: { Timeout: 4 } };

/**
 * A queue `Work` with a dead-letter queue, and a function that logs each batch's bodies before handling it.
 */
export async function startWork(settings: Settings) {
  const source = {
    assets: {
      Store: `
        const handle = ${settings.handler};
        export const handler = async (event) => {
          console.log(event.Records.map(({ body }) => body).sort().join(" "));
          return handle(event);
        };`,
    },
    resources: {
      ...queueResource("Dead", settings.deadQueue),
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
  };
  const running = await started(
    source,
    settings.maximumProcesses ? { maximumProcesses: settings.maximumProcesses } : {},
  );
  const { sqs } = running.clients;
  return {
    ...running,
    send: async (...bodies: string[]) => {
      const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
      await sqs.send(new SendMessageBatchCommand({ QueueUrl: running.url("Work"), Entries }));
    },
    dead: async () => {
      const command = new ReceiveMessageCommand({ QueueUrl: running.url("Dead"), MaxNumberOfMessages: 10 });
      return ((await sqs.send(command)).Messages ?? []).map(({ Body }) => Body);
    },
  };
}

/** Receive count of each body, from the logged batches. */
export function receipts(log: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const body of log.flatMap((line) => line.split(" "))) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
}
