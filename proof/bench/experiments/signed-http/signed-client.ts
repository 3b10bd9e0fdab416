import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import {
  type RequestTimeouts,
  requestSender,
  type SendRequest,
} from "../../../../adapters/provider/http-request.ts";
import { type BodyLimits, readText } from "../../../../adapters/provider/response-body.ts";
import { serviceError } from "./service-error.ts";

/** One operation of a service that speaks JSON. */
export type Operation<Input extends object> = { readonly name: string; readonly input: Input };

export type Service = {
  /** As signatures name it: `sqs`. */
  readonly id: string;
  /** What stands before an operation's name in `X-Amz-Target`. */
  readonly target: string;
  readonly contentType: string;
};

const timeouts: RequestTimeouts = { connect: 5_000, headers: 10_000 };
/** AWS: no answer of these services is larger than 16 MB. */
const bodyLimits: BodyLimits = { maxBytes: 16_777_216, silenceInMillis: 10_000 };
const firstWaitInMillis = 100;

/** What of a client of AWS's SDK the adapters use, over signed HTTP: the environment says who and where. */
export class SignedClient {
  readonly #service: Service;
  readonly #timeouts: RequestTimeouts;
  readonly #senders = new Map<string, SendRequest>();
  /** Derived keys, which hold for a day. */
  readonly #keys = new Map<string, ArrayBuffer>();

  constructor(service: Service, given = timeouts) {
    this.#service = service;
    this.#timeouts = given;
  }

  /** @returns the answer as it came. @throws a `ServiceError`, or the network's errors, after the last attempt */
  async call({ name, input }: Operation<object>, address = this.#address()): Promise<unknown> {
    const body = JSON.stringify(input);
    const attempts = Number(process.env.AWS_MAX_ATTEMPTS ?? 3);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(name, address, body);
      } catch (error) {
        if (attempt >= attempts || !isPassing(error)) throw error;
        await sleep(Math.random() * firstWaitInMillis * 2 ** attempt);
      }
    }
  }

  async #once(name: string, address: string, body: string): Promise<unknown> {
    const { id, target, contentType } = this.#service;
    const signer = new AwsV4Signer({
      method: "POST",
      url: address,
      headers: { "content-type": contentType, "x-amz-target": `${target}.${name}` },
      body,
      service: id,
      region: variable("AWS_REGION"),
      accessKeyId: variable("AWS_ACCESS_KEY_ID"),
      secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
      ...(process.env.AWS_SESSION_TOKEN !== undefined && { sessionToken: process.env.AWS_SESSION_TOKEN }),
      cache: this.#keys,
    });
    const { url, headers } = await signer.sign();
    const signal = AbortSignal.timeout(this.#timeouts.connect + this.#timeouts.headers);
    const send = this.#senderFor(url.protocol);
    const request = { method: "POST", headers: Object.fromEntries(headers), body, signal };
    const response = await send(url, request);
    const text = await readText(response, bodyLimits);
    const { statusCode = 0 } = response;
    if (statusCode !== 200) throw serviceError(statusCode, text);
    return JSON.parse(text);
  }

  #address(): string {
    return (
      process.env.AWS_ENDPOINT_URL ?? `https://${this.#service.id}.${variable("AWS_REGION")}.amazonaws.com/`
    );
  }

  #senderFor(protocol: string): SendRequest {
    const sender = this.#senders.get(protocol) ?? requestSender(protocol, this.#timeouts);
    this.#senders.set(protocol, sender);
    return sender;
  }
}

/** Worth another attempt: the network, a trouble of AWS's own, or that it asks to go slower. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!("status" in error)) return true;
  const { status } = error;
  return (
    status === 429 || Number(status) >= 500 || /Throttl|ThroughputExceeded|LimitExceeded/.test(error.name)
  );
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`environment variable ${name} is not set`);
  return value;
}
