import { outputOf, queuesOf, subscribersOf } from "./outputs.ts";
import type { System } from "./system.ts";

/** Where everything is, and what is needed to use it; for a file as well as for the screen. */
export type Addresses = {
  readonly endpoints: {
    readonly dynamodb: string;
    readonly sqs: string;
    readonly api: string;
    readonly sandbox: string;
  };
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** What a webhook must carry. */
  readonly webhookHeaders: Readonly<Record<string, string>>;
  readonly table: string;
  readonly queues: Readonly<Record<string, string>>;
};

/** @throws where the assembly has no HTTP API, or its webhooks were not registered */
export function addressesOf({ sandbox, stack }: System): Addresses {
  const registered = sandbox.webhook("users");
  if (stack.apiUrl === undefined) throw new Error("The assembly has no HTTP API: is it this pipeline's?");
  if (registered === undefined) throw new Error("The register function registered no webhook of users");
  const { accessKeyId, secretAccessKey } = stack.operator;
  return {
    endpoints: {
      dynamodb: stack.gatewayUrl,
      sqs: stack.gatewayUrl,
      api: stack.apiUrl,
      sandbox: sandbox.baseUrl,
    },
    credentials: { accessKeyId, secretAccessKey },
    webhookHeaders: registered.headers,
    table: outputOf(stack, "TableName"),
    queues: queuesOf(stack),
  };
}

/**
 * The addresses for a person, with a first thing to try.
 * @param logs the directory of the functions' logs
 */
export function printableAddresses(
  addresses: Addresses,
  { sandbox, stack }: System,
  logs: string | undefined,
): string {
  const { endpoints, credentials, webhookHeaders, table, queues } = addresses;
  const headers = Object.entries(webhookHeaders).map(([name, value]) => `${name}: ${value}`);
  const width = Math.max(...Object.keys(queues).map((name) => name.length));
  return [
    `Webhooks      ${endpoints.api}/webhooks/{users|accounts|endpoints|company-accounts}`,
    ...headers.map((header) => `              with the header ${header}`),
    `Sandbox       ${endpoints.sandbox}`,
    `              with the token ${sandbox.token}`,
    `Connect flow  ${endpoints.sandbox}/connect    (test-user, test-password)`,
    ...(sandbox.control === undefined
      ? []
      : [`Control       ${sandbox.control}    npx income-events sandbox fail --help`]),
    `AWS endpoint  ${stack.gatewayUrl} (${stack.region}, tables in ${stack.engine})`,
    `              AWS_ACCESS_KEY_ID=${credentials.accessKeyId} AWS_SECRET_ACCESS_KEY=${credentials.secretAccessKey}`,
    `Table         ${table}`,
    `Queues        ${Object.entries(queues)
      .map(([name, url]) => `${name.padEnd(width)}  ${url}`)
      .join("\n              ")}`,
    ...(logs === undefined
      ? []
      : [`Logs          ${logs}/*.log; follow an event: grep -h ID ${logs}/*.log | sort`]),
    "",
    "Commands      npx income-events --help",
    "",
    "For a subscriber, such as the README's reader:",
    ...subscriberEnvironment(stack).map((line) => `  export ${line}`),
    "",
    "Try:",
    `  curl -i ${endpoints.api}/webhooks/users -H 'content-type: application/json' \\`,
    ...headers.map((header) => `    -H '${header}' \\`),
    `    -d '{"action":"create_user","data":{"id":"6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60"}}'`,
  ].join("\n");
}

/** The environment in which AWS's own tools and a subscriber's reader work on this system. */
function subscriberEnvironment(stack: System["stack"]): readonly string[] {
  const { accessKeyId, secretAccessKey } = stack.operator;
  const [first] = subscribersOf(stack);
  return [
    `AWS_REGION=${stack.region} AWS_ENDPOINT_URL=${stack.gatewayUrl}`,
    `AWS_ACCESS_KEY_ID=${accessKeyId} AWS_SECRET_ACCESS_KEY=${secretAccessKey}`,
    ...(first === undefined ? [] : [`SUBSCRIBER_QUEUE_URL=${first.queueUrl}`]),
  ];
}
