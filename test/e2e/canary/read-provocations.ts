import { randomBytes, randomUUID } from "node:crypto";
import { S3Client } from "@aws-sdk/client-s3";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { expect } from "vitest";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { signedFetch } from "../../../proof/support/signed-fetch.ts";
import type { CanaryDriver } from "./canary-driver.ts";

/** Provocations of the read API's codes, in order. */
export function readProvocations({
  stage,
  plant,
  plantSecret,
  output,
  send,
  endpoint,
  during,
}: CanaryDriver) {
  const account = randomUUID();
  const answerOf = async (subscriber: string) => {
    const callers = registerSubscribers(stage().stack);
    const credentials = callers.find(({ name }) => name === subscriber)?.credentials;
    const url = new URL(`v1/accounts/${account}/documents/income`, output("DocumentsUrl"));
    const headers = {
      "x-person": plantSecret("a header of a reader"),
      "user-agent": plantSecret("a reader"),
    };
    const answer = await signedFetch(url, {
      region: stage().stack.region,
      headers,
      ...(credentials && { credentials }),
    });
    return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
  };
  const read = async (subscriber: string) => (await answerOf(subscriber)).status;
  /** Retries until the data can be read: a concurrent task may have been another one. */
  const fetchAgain = (data: readonly unknown[]) =>
    during(
      stage().answers(new RegExp(`${account}/income$`), () => ({ json: { data, next: null } })),
      "TASK_DONE",
      async () => {
        await send("endpoints", endpoint({ account_id: account }));
        const least = JSON.stringify(data).length;
        // A problem has bytes too.
        const bytesOfDocument = async () => {
          const { status, bytes } = await answerOf("everything");
          return status === 200 ? bytes : 0;
        };
        await expect.poll(bytesOfDocument).toBeGreaterThanOrEqual(least);
      },
    );
  return {
    READ: async () => {
      await fetchAgain([{ name: plant("small data") }]);
      expect(await read("everything")).toBe(200);
    },
    READ_REFUSED: async () => expect(await read("accounts")).toBe(403),
    READ_FAILED: () =>
      during(
        stage().fails(/^ReadDocuments/, "dynamodb:GetItem", { errorType: "AccessDeniedException" }),
        "READ_FAILED",
        async () => expect(await read("everything")).toBe(503),
      ),
    DOCUMENT_DATA_MISSING: async () => {
      await fetchAgain([{ name: plant("large data"), filler: randomBytes(20_000).toString("base64") }]);
      const { gatewayUrl, region, operator: credentials } = stage().stack;
      const s3 = new S3Client({ endpoint: gatewayUrl, region, credentials, forcePathStyle: true });
      await objectEraser(s3, output("OverflowBucketName")).removeBelow(`data/account/${account}/`);
      s3.destroy();
      expect(await read("everything")).toBe(500);
    },
  } satisfies Readonly<Record<string, () => Promise<unknown>>>;
}
