import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { legalHolds } from "../../adapters/dynamodb/legal-holds.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { drain, readItems, readObjects, textOfBytes, textOfItem } from "../../proof/scenario/snapshot.ts";
import {
  type ProviderAnswer,
  type ProviderRequest,
  startTestProvider,
} from "../../proof/support/test-provider.ts";
import { type Canaries, createCanaries } from "./canaries.ts";
import { fastEngine, shortPollMs } from "./engines.ts";
import { synthesizeProduct } from "./running-product.ts";

/** The synthesized product with a scripted provider and engines that fail on request. */
export type CanaryStage = AsyncDisposable & {
  readonly stack: LocalStack;
  readonly canaries: Canaries;
  /** Sets the provider's answer to matching calls (method and path); returns a function that removes it. */
  answers(matching: RegExp, answer: (request: ProviderRequest) => ProviderAnswer): () => void;
  /** Fails a function's calls to AWS with a canary in the message; returns a function that ends it. */
  fails(functionId: RegExp, action: string, fault: Partial<Fault>, resource?: string): () => void;
  functionOf(logicalId: RegExp): LocalStack["functions"][number];
  /** Every log line of functions and Lambda's runtime. */
  logged(): readonly string[];
  /** Number of times a code was logged. */
  count(code: string): number;
  /** Messages of all queues and dead-letter queues with their attributes, taken out. */
  messages(): Promise<readonly StoredMessage[]>;
  items(): Promise<readonly string[]>;
  /** Puts a legal hold on a subject. */
  readonly hold: (subject: Subject, reason: string) => Promise<void>;
  /** Objects of all buckets, decompressed. */
  objects(): Promise<readonly string[]>;
};

export type StoredMessage = { readonly body: string; readonly attributes: string };

const coded = z.object({ code: z.string() });

export async function startCanaryStage(stage: string, changes: object): Promise<CanaryStage> {
  const canaries = createCanaries();
  const [product, provider, engine] = await Promise.all([
    synthesizeProduct(stage, changes),
    startTestProvider(),
    fastEngine(),
  ]);
  const stack = await startStack({
    assembly: product.directory,
    engine,
    parameters: { ProviderBaseUrl: provider.url },
    maximumProcesses: 2,
    shortPollMs,
  });
  const overrides: { matching: RegExp; answer: (request: ProviderRequest) => ProviderAnswer }[] = [];
  provider.answer = (request) => {
    const found = overrides.findLast(({ matching }) => matching.test(`${request.method} ${request.path}`));
    return found?.answer(request) ?? usualAnswer(request, canaries);
  };
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const functionOf: CanaryStage["functionOf"] = (logicalId) => {
    const found = stack.functions.find((one) => logicalId.test(one.logicalId));
    if (found === undefined) throw new Error(`no function ${logicalId}`);
    return found;
  };
  const logged = () => stack.functions.flatMap(({ log }) => log());
  return {
    stack,
    canaries,
    functionOf,
    logged,
    answers: (matching, answer) => {
      const override = { matching, answer };
      overrides.push(override);
      return () => void overrides.splice(overrides.indexOf(override), 1);
    },
    fails: (functionId, action, fault, resource) => {
      const { name } = functionOf(functionId);
      const message = canaries.plant(`AWS's message about ${action}`);
      return stack.gateway.intercept(async (call, phase) => {
        const isMet = phase === "before" && call.principal === name && call.action === action;
        if (!isMet || (resource !== undefined && !call.resources.includes(resource))) return undefined;
        return { status: 400, errorType: "ValidationException", message, ...fault };
      });
    },
    count: (code) => logged().filter((line) => codeOf(line) === code).length,
    messages: async () => {
      const found: StoredMessage[] = [];
      for (const { url } of stack.queues.values()) {
        for await (const { Body = "", MessageAttributes = {} } of drain(access, url)) {
          found.push({ body: Body, attributes: JSON.stringify(MessageAttributes) });
        }
      }
      return found;
    },
    items: async () => (await readItems(access, outputOf(stack, "TableName"))).map(textOfItem),
    hold: async (subject: Subject, reason: string) => {
      const client = new DynamoDBClient(access);
      const holds = legalHolds(client, outputOf(stack, "TableName"));
      await holds.set(subject, { at: new Date().toISOString(), reason }, []);
      client.destroy();
    },
    objects: async () => {
      const objects = await Promise.all(stack.buckets.map(({ name }) => readObjects(access, name)));
      return objects.flatMap((each) => [...each].map(([key, bytes]) => `${key} ${textOfBytes(bytes)}`));
    },
    [Symbol.asyncDispose]: async () => {
      await stack.close();
      await provider.close();
      await product[Symbol.asyncDispose]();
    },
  };
}

function codeOf(line: string): string | undefined {
  try {
    return coded.safeParse(JSON.parse(line)).data?.code;
  } catch {
    return undefined;
  }
}

/** A working provider whose answers consist of canaries, including the headers. */
function usualAnswer({ method, path }: ProviderRequest, { plant }: Canaries): ProviderAnswer {
  const headers = { "x-answer": plant("a header of the provider's answer") };
  if (method !== "GET")
    return { status: 202, headers, json: { said: plant("the answer to a start or registration") } };
  const isState = /\/(accounts|users)\/[^/]+$/.test(path);
  if (isState) return { headers, json: { connected: true, owner: plant("a state") } };
  return { headers, json: { data: [{ name: plant("data") }], next: null } };
}
