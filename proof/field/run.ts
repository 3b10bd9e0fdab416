import { createHash, randomUUID } from "node:crypto";
import type { ProviderAnswer } from "@income-events/local-stack/provider.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { readAllDeadLetters, readBodies } from "../scenario/snapshot.ts";
import { type ScriptedStack, type StackSource, startScriptedStack } from "../support/scripted-stack.ts";
import { type AnswerInput, answerInputs, bytesOf, type WebhookInput, webhookInputs } from "./inputs.ts";

/** Problems of an input's outcome; empty if it is as expected. */
export type FieldResult = { readonly name: string; readonly problems: readonly string[] };

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
type Message = z.output<typeof message>;

/** Runs every input on a local stack with a provider that answers as told. */
export async function runField(source: StackSource = {}): Promise<readonly FieldResult[]> {
  await using system = await startScriptedStack(settings, source);
  const results = [...(await tryWebhooks(system))];
  for (const input of answerInputs) results.push(await tryAnswer(input, system));
  return results;
}

async function tryWebhooks({ stack, access, send, output }: ScriptedStack): Promise<readonly FieldResult[]> {
  const refused = new Map<WebhookInput, string[]>();
  for (const input of webhookInputs)
    for (const { kind, file, headers } of input.sent) {
      const status = await send(kind, bytesOf(file), headers);
      if (status !== 202) refused.set(input, [...(refused.get(input) ?? []), `${file}: ${status}`]);
    }
  await stack.drained({ deadline: patience });
  const events = new Map((await takeMessages({ access, output })).map((each) => [each.id, each]));
  const bySubject = Map.groupBy(
    [...events.values()].filter(({ type }) => !/confirmed$|^data\./.test(type)),
    ({ subject }) => subject,
  );
  const ignored = ignoredEvents(stack);
  const results = webhookInputs.map((input) => {
    const problems = [
      ...(refused.get(input) ?? []),
      ...eventProblems(input, bySubject),
      ...ignoredProblems(input, ignored),
    ];
    return { name: input.name, problems };
  });
  const letters = await readAllDeadLetters(access, stack);
  const problems = letters.map(({ reason }) => `a dead letter: ${reason}`);
  return [...results, { name: "no dead letter", problems }];
}

function eventProblems(
  { events, times = {}, ignoredTimes = {} }: WebhookInput,
  bySubject: ReadonlyMap<string, readonly Message[]>,
): readonly string[] {
  return Object.entries(events).flatMap(([subject, types]) => {
    const found = bySubject.get(subject) ?? [];
    const announced = found.map(({ type }) => type).sort();
    const announcedTimes = found.map(({ time }) => time);
    const [time, ignoredTime] = [times[subject], ignoredTimes[subject]];
    return [
      ...(announced.join() === [...types].sort().join()
        ? []
        : [`${subject}: ${announced.join(", ") || "no event"} in place of ${types.join(", ") || "none"}`]),
      ...(time === undefined || announcedTimes.includes(time)
        ? []
        : [`${subject}: its time is read as ${announcedTimes.join(", ")} in place of ${time}`]),
      ...(ignoredTime === undefined || !announcedTimes.includes(ignoredTime)
        ? []
        : [`${subject}: the time ${ignoredTime} can't be true and was announced`]),
    ];
  });
}

function ignoredProblems(
  { ignoredNames = [] }: WebhookInput,
  ignored: ReadonlyMap<string, number>,
): readonly string[] {
  return ignoredNames.flatMap((name) =>
    ignored.get(name) === 1 ? [] : [`${name}: ${ignored.get(name) ?? 0} events were ignored in place of 1`],
  );
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

/** Reads a document, then reads it again with this answer in between. */
async function tryAnswer(
  { name, file, status, contentType, isData }: AnswerInput,
  { stack, access, output, provider, send }: ScriptedStack,
): Promise<FieldResult> {
  const bytes = bytesOf(file);
  const given: ProviderAnswer = (response) =>
    void response.writeHead(status, { "content-type": contentType }).end(bytes);
  const good = (revision: number): ProviderAnswer => ({ text: JSON.stringify({ revision, data: [] }) });
  const digestOf = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
  const account_id = `acct-${file}`;
  const announce = async () => {
    const event = { event: "update_endpoint", request_id: randomUUID(), account_id, endpoint: "income" };
    await send("endpoints", { ...event, data_available: true });
    await stack.drained({ deadline: patience });
    return (await takeMessages({ access, output })).flatMap(({ data }) => data.document?.sha256 ?? []);
  };
  provider.answer = () => good(1);
  const first = await announce();
  let calls = 0;
  provider.answer = () => {
    calls += 1;
    return isData || calls <= 2 ? given : good(2);
  };
  const second = await announce();
  const expected = isData ? digestOf(bytes) : digestOf(JSON.stringify({ revision: 2, data: [] }));
  return {
    name,
    problems: [
      ...(first.length === 1 ? [] : ["the document before it was not announced"]),
      ...(second.join() === expected
        ? []
        : [`${second.length} documents were announced after it, or another`]),
    ],
  };
}

/** Takes the messages out of the subscriber's queue. */
async function takeMessages({
  access,
  output,
}: Pick<ScriptedStack, "access" | "output">): Promise<readonly Message[]> {
  const bodies = await readBodies(access, output("SubscriberEverythingQueueUrl"));
  return bodies.map((body) => message.parse(JSON.parse(body)));
}
