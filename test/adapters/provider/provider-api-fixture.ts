import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { FailureError, failureOf } from "../../../domain/core/failures.ts";
import { startTestProvider, type TestProvider } from "../../support/test-provider.ts";

export const noon = new Date("2026-11-21T12:00:00Z");

export const maxResponseBytes = 10_000;

const timeouts = { connectSeconds: 1, headersSeconds: 0.15, bodySeconds: 0.15 };

export const limits = { timeouts, maxResponseBytes, allowPrivateAddresses: true };

export const get = { method: "GET", path: "/api/v0.4/users" } as const;

export async function failureFrom(call: Promise<unknown>) {
  const error = await call.then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(FailureError);
  return failureOf(error);
}

/** A scripted provider, and calls to it. */
export function providerApiFixture() {
  const made = {} as {
    provider: TestProvider;
  };

  beforeAll(async () => {
    made.provider = await startTestProvider();
  });
  afterAll(async () => {
    await made.provider.close();
  });
  beforeEach(() => {
    made.provider.requests.length = 0;
  });

  const api = (baseUrl = made.provider.url) => new ProviderApi(baseUrl, limits, () => noon);

  return Object.assign(made, {
    api,
  });
}
