import { createServer, type Server } from "node:http";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RelayRecords, relayInvoker } from "../../../adapters/aws/relay-invoker.ts";
import type { StreamRecord } from "../../../adapters/streams/change-stream.ts";

/** The function's behaviour for the numbers of an invocation's records. */
type Relay = (numbers: readonly string[]) => { failed: string } | "crash" | undefined;

describe("relaying again", () => {
  let server: Server;
  let relay: Relay;
  let invocations: string[][];
  let client: LambdaClient;
  beforeEach(async () => {
    invocations = [];
    relay = () => undefined;
    server = createServer(async (request, response) => {
      const { Records } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
      const numbers = Records.map(({ dynamodb }: StreamRecord) => dynamodb?.SequenceNumber);
      invocations.push(numbers);
      const outcome = relay(numbers);
      if (outcome === "crash") {
        response.setHeader("x-amz-function-error", "Unhandled").end('{"errorMessage":"out of memory"}');
        return;
      }
      const batchItemFailures = outcome === undefined ? [] : [{ itemIdentifier: outcome.failed }];
      response.end(JSON.stringify({ batchItemFailures }));
    });
    const port = await listen(server);
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    client = new LambdaClient({ region: "eu-central-1", endpoint: `http://127.0.0.1:${port}`, credentials });
  });
  afterEach(async () => {
    client.destroy();
    await closeServer(server);
  });

  const records = (count: number, text = ""): readonly StreamRecord[] =>
    Array.from({ length: count }, (_, index) => ({
      dynamodb: { SequenceNumber: String(index + 1), NewImage: { pk: { S: text } } },
    }));
  const run = (some: readonly StreamRecord[], invoker: RelayRecords = relayInvoker(client, "relay")) =>
    invoker(some);
  const numbersOf = (failed: Awaited<ReturnType<RelayRecords>>) =>
    failed.map(({ record }) => record.dynamodb?.SequenceNumber);
  /** Fails as the relay does, at the first failed record. */
  const failing =
    (...poison: readonly string[]): Relay =>
    (numbers) => {
      const failed = numbers.find((number) => poison.includes(number));
      return failed === undefined ? undefined : { failed };
    };

  it("delivers all records in order, within the function's time and the size of an invocation", async () => {
    expect(await run(records(120))).toEqual([]);
    expect(invocations.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(invocations.flat()).toEqual(records(120).map(({ dynamodb }) => dynamodb?.SequenceNumber));
    invocations = [];
    expect(await run(records(5, "x".repeat(1_500_000)))).toEqual([]);
    expect(invocations.map(({ length }) => length)).toEqual([2, 2, 1]);
  });

  it("retries from a failed record, skips one that fails twice, and continues after it", async () => {
    relay = failing("3", "7");
    expect(numbersOf(await run(records(9)))).toEqual(["3", "7"]);
    expect(invocations.map((numbers) => numbers[0])).toEqual(["1", "3", "4", "7", "8"]);

    let isFirst = true;
    relay = (numbers) => {
      const outcome = isFirst ? failing("2")(numbers) : undefined;
      isFirst = false;
      return outcome;
    };
    expect(await run(records(3))).toEqual([]);
  });

  it("isolates the record that crashes the function, and relays all others", async () => {
    relay = (numbers) => (numbers.includes("6") ? "crash" : undefined);
    const failed = await run(records(8));
    expect(failed).toMatchObject([
      { record: { dynamodb: { SequenceNumber: "6" } }, reason: "out of memory" },
    ]);
    const relayed = invocations.filter((numbers) => !numbers.includes("6")).flat();
    expect(new Set(relayed)).toEqual(new Set(["1", "2", "3", "4", "5", "7", "8"]));
  });

  it("gives up after a few attempts if nothing can be relayed", async () => {
    relay = () => "crash";
    await expect(run(records(50))).rejects.toThrow("the relay fails for every record: out of memory");
    expect(invocations.length).toBeLessThan(30);
    relay = (numbers) => failing(...numbers)(numbers);
    await expect(run(records(50))).rejects.toThrow("the relay fails for every record");
  });

  it("continues past any number of bad records once some were relayed", async () => {
    relay = failing("2", "3", "4", "5", "6", "7", "8");
    expect(numbersOf(await run(records(9)))).toEqual(["2", "3", "4", "5", "6", "7", "8"]);
  });
});
