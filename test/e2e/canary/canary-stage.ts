import { randomBytes } from "node:crypto";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { startStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { drain, readItems, readObjects, textOfBytes, textOfItem } from "../../../proof/scenario/snapshot.ts";
import { fastEngine, shortPollMs } from "../../support/engines.ts";
import { synthesizeProduct } from "../../support/running-product.ts";
import { type ProviderAnswer, type ProviderRequest, startTestProvider } from "../../support/test-provider.ts";

const mark = "kanarie";

/** Plants unique words: where one is found, the data it was planted in has leaked. */
class Canaries {
  readonly #planted = new Map<string, string>();

  /** @param what names the word's origin in failures */
  plant(what: string): string {
    const word = `${mark}${randomBytes(9).toString("hex")}`;
    this.#planted.set(word, what);
    return word;
  }

  /** Planted words that occur in a text, plain or in base64; in order, each once. */
  foundIn(text: string): readonly string[] {
    const texts = [text, ...decoded(text)];
    return [...this.#planted]
      .filter(([word]) => texts.some((one) => one.includes(word)))
      .map(([, what]) => what);
  }
}

/** Decodes a text's base64 parts, of either alphabet and at any offset. */
function decoded(text: string): readonly string[] {
  // Split first: a regular expression over a megabyte would overflow the stack.
  const runs = text.split(/[^A-Za-z0-9+/_-]/).filter(({ length }) => length >= 24);
  return runs.flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), "base64").toString("latin1")),
  );
}

export type StoredMessage = { readonly body: string; readonly attributes: string };

const coded = z.object({ code: z.string() });

export type CanaryStage = Awaited<ReturnType<typeof startCanaryStage>>;

/** Starts the synthesized product with a scripted provider and engines that fail on request. */
export async function startCanaryStage(changes: object) {
  const canaries = new Canaries();
  const [product, provider, engine] = await Promise.all([
    synthesizeProduct("local", changes),
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
  const functionOf = (logicalId: RegExp) => {
    const found = stack.functions.find((one) => logicalId.test(one.logicalId));
    if (found === undefined) throw new Error(`no function ${logicalId}`);
    return found;
  };
  const logged = () => stack.functions.flatMap(({ log }) => log());
  return {
    stack,
    canaries,
    functionOf,
    /** Every log line of functions and Lambda's runtime. */
    logged,
    /** Sets the provider's answer to matching calls (method and path); returns a function that removes it. */
    answers: (matching: RegExp, answer: (request: ProviderRequest) => ProviderAnswer) => {
      const override = { matching, answer };
      overrides.push(override);
      return () => void overrides.splice(overrides.indexOf(override), 1);
    },
    /** Fails a function's calls to AWS with a canary in the message; returns a function that ends it. */
    fails: (functionId: RegExp, action: string, fault: Partial<Fault>, resource?: string) => {
      const { name } = functionOf(functionId);
      const message = canaries.plant(`AWS's message about ${action}`);
      return stack.gateway.intercept(async (call, phase) => {
        const isMet = phase === "before" && call.principal === name && call.action === action;
        if (!isMet || (resource !== undefined && !call.resources.includes(resource))) return undefined;
        return { status: 400, errorType: "ValidationException", message, ...fault };
      });
    },
    /** Number of times a code was logged. */
    count: (code: string) => logged().filter((line) => codeOf(line) === code).length,
    /** Messages of all queues and dead-letter queues with their attributes, taken out. */
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
    access,
    /** Objects of all buckets, decompressed. */
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
function usualAnswer({ method, path }: ProviderRequest, canaries: Canaries): ProviderAnswer {
  const plant = (what: string) => canaries.plant(what);
  const headers = { "x-answer": plant("a header of the provider's answer") };
  if (method !== "GET")
    return { status: 202, headers, json: { said: plant("the answer to a start or registration") } };
  const isState = /\/(accounts|users)\/[^/]+$/.test(path);
  if (isState) return { headers, json: { connected: true, owner: plant("a state") } };
  return { headers, json: { data: [{ name: plant("data") }], next: null } };
}
