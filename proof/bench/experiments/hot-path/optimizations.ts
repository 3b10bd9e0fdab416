import { Agent } from "node:https";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { jmespathSearch } from "../../../../adapters/aws/jmespath-search.ts";
import { mapPayload, type Search } from "../../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../../lib/settings/default-mapping.ts";
import { payload as schema } from "../../peers/payloads.ts";
import { workload } from "../../workload.ts";

/** A habit of the hot path, and what would be done without it. */
export type Habit = {
  readonly name: string;
  readonly times: number;
  readonly without: () => Promise<unknown> | unknown;
  readonly with: () => Promise<unknown> | unknown;
};

const batchSize = 10;
/** More than an evaluator keeps. */
const variants = 1_000;

/** @param url of a server over TLS that answers as SQS does @param ca its certificate */
export function habitsOf(url: string, ca: string): readonly Habit[] {
  const [{ body = "" } = {}] = workload({ seed: 1, events: 2, duplicates: 0 }).filter(
    ({ kind }) => kind === "accounts",
  );
  const payload: unknown = JSON.parse(body);
  let turn = 0;
  const compilingEachTime: Search = (expression, data) => {
    turn += 1;
    return jmespathSearch(expression + " ".repeat((turn % variants) + 1), data);
  };
  const map = (search: Search) => mapPayload(defaultMapping.accounts, payload, search);

  const clientWith = (agent: Agent) =>
    new SQSClient({
      region: "eu-central-1",
      endpoint: url,
      credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
      requestHandler: { httpsAgent: agent },
    });
  const keeping = new Agent({ keepAlive: true, ca });
  const shared = clientWith(keeping);
  const reconnecting = clientWith(new Agent({ keepAlive: false, ca }));
  const QueueUrl = `${url}/000000000000/queue`;
  const sendOne = (client: SQSClient) => client.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
  const Entries = Array.from({ length: batchSize }, (_, index) => ({ Id: String(index), MessageBody: body }));

  return [
    {
      name: "an expression is compiled once",
      times: 2_000,
      without: () => map(compilingEachTime),
      with: () => map(jmespathSearch),
    },
    {
      name: "a body is parsed once, not three times",
      times: 20_000,
      without: () => [1, 2, 3].map(() => JSON.parse(body)),
      with: () => JSON.parse(body),
    },
    {
      name: "a body is checked by its mapping, not by a schema before",
      times: 2_000,
      without: () => [schema.parse(payload), map(jmespathSearch)],
      with: () => map(jmespathSearch),
    },
    {
      name: "a connection is kept",
      times: 50,
      without: () => sendOne(reconnecting),
      with: () => sendOne(shared),
    },
    {
      name: "a client is shared",
      times: 50,
      without: () => sendOne(clientWith(keeping)),
      with: () => sendOne(shared),
    },
    {
      name: "ten messages are one request",
      times: 30,
      without: () => Promise.all(Entries.map(() => sendOne(shared))),
      with: () => shared.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
    },
  ];
}
