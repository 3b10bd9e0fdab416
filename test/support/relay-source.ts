import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";

/** Enables or disables the relay's event source mapping, as an operator would. */
export async function enableRelay(stack: LocalStack, Enabled: boolean): Promise<void> {
  const { gatewayUrl: endpoint, region, operator: credentials } = stack;
  const client = new LambdaClient({ endpoint, region, credentials });
  try {
    const FunctionName = outputOf(stack, "RelayFunctionName");
    const list = new ListEventSourceMappingsCommand({ FunctionName });
    const { EventSourceMappings: [source] = [] } = await client.send(list);
    await client.send(new UpdateEventSourceMappingCommand({ UUID: source?.UUID, Enabled }));
  } finally {
    client.destroy();
  }
}
