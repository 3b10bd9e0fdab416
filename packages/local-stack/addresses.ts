import { z } from "zod";
import type { Credentials } from "./lambda/environment.ts";
import { isClone } from "./options.ts";
import { outputOf, queuesOf } from "./outputs.ts";
import type { System } from "./system.ts";

export type Addresses = ReturnType<typeof addressesOf>;
type SubscriberAddress = Addresses["subscribers"][string];

const webhookSecret = z.object({ current: z.string() });

/**
 * @param pipeline defaults to the first of the stack
 * @throws if the pipeline has no webhook secret
 */
export function addressesOf({ stack, pipelines }: System, pipeline = pipelines[0]) {
  const { sandbox, subscribers } = pipeline;
  const secret = webhookSecret.parse(JSON.parse(stack.secretValue(outputOf(pipeline, "WebhookSecretArn"))));
  return {
    region: stack.region,
    endpoints: {
      dynamodb: stack.gatewayUrl,
      sqs: stack.gatewayUrl,
      api: outputOf(pipeline, "WebhooksUrl").replace(/\/webhooks$/, ""),
      sandbox: sandbox.baseUrl,
    },
    /** Credentials of the operator. */
    credentials: pairOf(stack.operator),
    /**
     * Headers that let a client post webhooks of any kind; the provider sends a different value for each kind.
     */
    webhookHeaders: {
      [outputOf(pipeline, "WebhookSecretHeader")]: withScheme(
        pipeline.outputs.WebhookSecretScheme,
        secret.current,
      ),
    },
    table: outputOf(pipeline, "TableName"),
    queues: queuesOf(pipeline),
    documents: { url: outputOf(pipeline, "DocumentsUrl") },
    /**
     * By subscriber name. Each can read its own queue and the documents that its messages announce, nothing
     * else.
     */
    subscribers: Object.fromEntries(
      subscribers.map(({ name, credentials, ...subscriber }) => [
        name,
        { ...subscriber, credentials: pairOf(credentials) },
      ]),
    ),
  };
}

/** Copies only the key pair: SDK clients add fields to credentials that they receive. */
function pairOf({ accessKeyId, secretAccessKey }: Credentials): Credentials {
  return { accessKeyId, secretAccessKey };
}

/**
 * A short summary of the addresses; `npx income-events local show` prints the rest.
 * @param file the file from which commands read the addresses and credentials
 */
export function firstAddresses(
  { endpoints, webhookHeaders }: Addresses,
  { sandbox, file }: { readonly sandbox: System["sandbox"]; readonly file: string },
): string {
  const headers = Object.entries(webhookHeaders).map(([name, value]) => `-H '${name}: ${value}'`);
  return [
    `Webhooks      ${endpoints.api}/webhooks/{users|accounts|endpoints|company-accounts}`,
    `              curl -i ${endpoints.api}/webhooks/users -H 'content-type: application/json' \\`,
    ...headers.map((header) => `                ${header} \\`),
    `                -d '{"action":"create_user","data":{"id":"6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60"}}'`,
    `Sandbox       ${sandbox.baseUrl}/connect    connect an account (test-user, test-password)`,
    `Credentials   ${file}`,
    "",
    "Next          npx income-events events tail             each event as it comes",
    "              npx income-events trigger user.created    send one",
    "              npx income-events local show              all addresses, and what a subscriber's program needs",
  ].join("\n");
}

/**
 * Formats all addresses for printing.
 * @param logs the directory of the functions' logs
 */
export function printableAddresses(
  addresses: Addresses,
  { stack, sandbox }: Pick<System, "stack" | "sandbox">,
  logs: string | undefined,
): string {
  const { endpoints, documents, webhookHeaders, table, queues } = addresses;
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
    `Documents     ${documents.url}    (signed with AWS Signature Version 4)`,
    `Table         ${table}`,
    `Queues        ${Object.entries(queues)
      .map(([name, url]) => `${name.padEnd(width)}  ${url}`)
      .join("\n              ")}`,
    ...(logs === undefined
      ? []
      : [`Logs          ${logs}/*.log; follow an event: grep -h ID ${logs}/*.log | sort`]),
    "",
    ...Object.entries(addresses.subscribers).flatMap(([name, subscriber]) => [
      ...subscriberLines(name, addresses, subscriber),
      "",
    ]),
  ].join("\n");
}

/** Commands for reading a subscriber's queue: its environment and, in a clone, a program that uses it. */
function subscriberLines(
  name: string,
  addresses: Addresses,
  subscriber: SubscriberAddress,
): readonly string[] {
  const environment = subscriberEnvironment(addresses, subscriber).map((line) => `  export ${line}`);
  if (!isClone) return [`For the subscriber ${name}, before you start its program:`, ...environment];
  const { types = ["data.updated"] } = subscriber;
  const getsData = types.some((type) => ["data.updated", "data.*", "*"].includes(type));
  const [prints, program] = getsData
    ? ["each user's income by month", "examples/monthly-income/main.ts"]
    : ["each message's type and subject", "examples/minimal/subscriber.ts"];
  return [`For the subscriber ${name}, ${prints}:`, ...environment, `  npx node ${program}`];
}

function subscriberEnvironment(addresses: Addresses, subscriber: SubscriberAddress): readonly string[] {
  const pairs = Object.entries(variablesOf(addresses, subscriber)).map(([name, value]) => `${name}=${value}`);
  return [0, 2, 4].map((first) => pairs.slice(first, first + 2).join(" "));
}

/**
 * Selects a subscriber's environment variables.
 * @param all addresses by pipeline id
 * @param wanted `billing`, or `Payroll/billing` if several pipelines have one
 * @throws listing the subscribers if none matches
 */
export function subscriberVariables(
  all: ReadonlyMap<string, Addresses>,
  wanted: string,
): Readonly<Record<string, string>> {
  const known = [...all].flatMap(([id, addresses]) =>
    Object.entries(addresses.subscribers).map(([name, subscriber]) => {
      const variables = variablesOf(addresses, subscriber);
      return { name, fullName: id === "" ? name : `${id}/${name}`, variables };
    }),
  );
  const found = known.filter(({ name, fullName }) => [name, fullName].includes(wanted));
  const [only, other] = found;
  if (only !== undefined && other === undefined) return only.variables;
  const [what, those] = only === undefined ? ["no such", known] : ["several such", found];
  const end = only === undefined ? "" : "s";
  throw new Error(
    `--subscriber ${wanted}=…: the stack has ${what} subscriber${end}; it has: ${those.map(({ fullName }) => fullName).join(", ")}`,
  );
}

function variablesOf(
  { region, endpoints }: Addresses,
  { queueUrl, credentials: { accessKeyId, secretAccessKey } }: SubscriberAddress,
) {
  return {
    AWS_REGION: region,
    // boto3 reads this variable.
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL: endpoints.sqs,
    SUBSCRIBER_QUEUE_URL: queueUrl,
  };
}

/** The `Authorization` value: the secret, after the scheme if the settings name one. */
function withScheme(scheme: string | undefined, secret: string): string {
  if (scheme === undefined) return secret;
  return `${scheme} ${scheme === "Basic" ? Buffer.from(`:${secret}`).toString("base64") : secret}`;
}
