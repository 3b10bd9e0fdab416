import { createHash, randomUUID } from "node:crypto";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { readAllDeadLetters, readBodies } from "../../../proof/scenario/snapshot.ts";
import { type ScriptedStack, type StackSource, startScriptedStack } from "../../support/scripted-stack.ts";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { type AnswerInput, bytesOf, webhookInputs } from "./inputs.ts";

const patience = 120_000;
const settings = {
  startEndpoints: ["profile"],
  subscribers: [{ name: "everything" }],
  mapping: {
    accounts: {
      eventId: "event_id",
      time: "occurred_at",
      identity: "eventId",
      ids: "any",
      types: {
        connect_account: "account.connected",
        disconnect_account: "account.disconnected",
        ping: "ignore",
        "connector/status_updated": "ignore",
      },
    },
    endpoints: { ids: "any" },
    "company-accounts": { events: "[@][]", ids: "any" },
  },
};

const message = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  time: z.string(),
  data: z.looseObject({ document: z.looseObject({ sha256: z.string() }).optional() }),
});

/** Starts a local stack with a provider that answers as told. */
export function startField(source: StackSource): Promise<ScriptedStack> {
  return startScriptedStack(settings, source);
}

/** Sends all webhooks, and returns what became of them. */
export async function sendWebhooks({ stack, access, send, output }: ScriptedStack) {
  const refused: string[] = [];
  for (const { kind, file, headers } of webhookInputs.flatMap(({ sent }) => sent)) {
    const status = await send(kind, bytesOf(file), headers);
    if (status !== 202) refused.push(`${file}: ${status}`);
  }
  await stack.drained({ deadline: patience });
  const events = new Map((await takeMessages({ access, output })).map((each) => [each.id, each]));
  const ofWebhooks = [...events.values()].filter(({ type }) => !/confirmed$|^data\./.test(type));
  return {
    refused,
    /** Messages about events, by subject. */
    bySubject: Map.groupBy(ofWebhooks, ({ subject }) => subject),
    ignored: ignoredEvents(stack),
    deadLetters: await readAllDeadLetters(access, stack),
  };
}

const ignoredLine = z.looseObject({
  code: z.literal("EVENT_IGNORED"),
  name: z.string(),
  count: z.number(),
});

/** Number of ignored events by name, as the functions log them. */
function ignoredEvents({ functions }: LocalStack): ReadonlyMap<string, number> {
  const ignored = new Map<string, number>();
  for (const line of functions.flatMap(({ log }) => log())) {
    if (!line.includes('"EVENT_IGNORED"')) continue;
    const { name, count } = ignoredLine.parse(JSON.parse(line));
    ignored.set(name, (ignored.get(name) ?? 0) + count);
  }
  return ignored;
}

/**
 * Reads a document, then reads it again with this answer in between.
 * @returns the digests that were announced before and after it, and the expected one after it
 */
export async function readAround(
  { file, status, contentType, isData }: AnswerInput,
  { stack, access, output, provider, send }: ScriptedStack,
) {
  const bytes = bytesOf(file);
  const given: ProviderAnswer = (response) =>
    void response.writeHead(status, { "content-type": contentType }).end(bytes);
  const textOf = (revision: number) => JSON.stringify({ revision, data: [] });
  const digestOf = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
  const account_id = `acct-${file}`;
  const announce = async () => {
    const event = { event: "update_endpoint", request_id: randomUUID(), account_id, endpoint: "income" };
    await send("endpoints", { ...event, data_available: true });
    await stack.drained({ deadline: patience });
    return (await takeMessages({ access, output })).flatMap(({ data }) => data.document?.sha256 ?? []);
  };
  provider.answer = () => ({ text: textOf(1) });
  const before = await announce();
  let calls = 0;
  provider.answer = () => {
    calls += 1;
    return isData || calls <= 2 ? given : { text: textOf(2) };
  };
  return { before, after: await announce(), expected: digestOf(isData ? bytes : textOf(2)) };
}

/** Takes the messages out of the subscriber's queue. */
async function takeMessages({
  access,
  output,
}: Pick<ScriptedStack, "access" | "output">): Promise<readonly z.output<typeof message>[]> {
  const bodies = await readBodies(access, output("SubscriberEverythingQueueUrl"));
  return bodies.map((body) => message.parse(JSON.parse(body)));
}
