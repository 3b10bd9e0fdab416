import { afterEach, expect, it, vi } from "vitest";
import { log, logged } from "../../../functions/runtime/log.ts";
import { context } from "../support/lambda.ts";

const written: string[] = [];
vi.spyOn(process.stdout, "write").mockImplementation((text) => {
  written.push(String(text));
  return true;
});
afterEach(() => written.splice(0));

it("a line is one JSON object with time, level, the invocation's id and then its fields", async () => {
  const handle = logged(async () => {
    log("EVENT_DUPLICATE", { kind: "users" });
    log("MESSAGE_REJECTED", { reason: "two\nlines" });
  });
  await handle(undefined, { ...context, awsRequestId: "the-first" });
  await handle(undefined, { ...context, awsRequestId: "the-second" });
  expect(written.map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]{12}Z/, "now"))).toEqual(
    ["the-first", "the-second"].flatMap((requestId) => [
      `{"timestamp":"now","level":"INFO","code":"EVENT_DUPLICATE","requestId":"${requestId}","kind":"users"}\n`,
      `{"timestamp":"now","level":"ERROR","code":"MESSAGE_REJECTED","requestId":"${requestId}","reason":"two\\nlines"}\n`,
    ]),
  );
});
