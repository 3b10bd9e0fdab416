import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { bodyOf, closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { queueDepth } from "../../../../adapters/sqs/queue-metrics.ts";
import { forward, parseTarget, postTo } from "../../../../packages/cli/forward/forward.ts";
import { startTestSystem, type TestSystem } from "../../../support/engines.ts";

type Request = { readonly headers: IncomingHttpHeaders; readonly method?: string; readonly body: string };

describe("forwarding a queue to an address", () => {
  let system: TestSystem;
  let queueUrl: string;
  let server: Server;
  let ownPort: number;
  let requests: Request[];
  let answer: (response: ServerResponse, body: string) => void;
  let reported: string[];
  beforeAll(async () => {
    system = await startTestSystem();
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    queueUrl = await system.createQueue();
    requests = [];
    reported = [];
    answer = (response) => void response.writeHead(204).end();
    server = createServer(async (request, response) => {
      const body = String(await bodyOf(request));
      const { headers, method = "" } = request;
      requests.push({ headers, method, body });
      answer(response, body);
    });
    ownPort = await listen(server);
  });
  afterEach(() => closeServer(server));

  const start = (port = ownPort, timeoutInSeconds = 20) => {
    const ending = new AbortController();
    const { signal } = ending;
    const post = postTo(new URL(`http://127.0.0.1:${port}/events`), timeoutInSeconds, signal);
    const wait = () => new Promise<void>((resolve) => void setTimeout(resolve, 20));
    const report = (text: string) => void reported.push(text);
    const result = forward({ sqs: system.sqs, queueUrl, post, signal, wait, report });
    const stop = () => {
      ending.abort();
      return result;
    };
    return { result, stop };
  };
  const counts = async () => {
    const { waiting, inFlight } = await queueDepth(system.sqs, queueUrl);
    return { waiting, inFlight };
  };
  const bodies = () => requests.map(({ body }) => body).toSorted();

  it("posts each message as it lies there, as a CloudEvent, and deletes it once it is accepted", async () => {
    const sent = ["1", "2", "3"].map((id) =>
      JSON.stringify({ specversion: "1.0", id, type: "user.created" }),
    );
    for (const body of sent) await system.send(queueUrl, body);
    const { stop } = start();
    await expect.poll(bodies).toEqual(sent);
    await expect.poll(counts).toEqual({ waiting: 0, inFlight: 0 });
    for (const { method, headers } of requests) {
      expect(method).toBe("POST");
      expect(headers["content-type"]).toBe("application/cloudevents+json");
    }
    await system.send(queueUrl, "{}");
    await expect.poll(bodies).toHaveLength(4);
    await expect.poll(counts).toEqual({ waiting: 0, inFlight: 0 });
    expect(await stop()).toEqual({ forwarded: 4, refused: 0 });
    expect(reported).toContain("204  user.created  -  1");
  });

  it.each([
    ["500", (response: ServerResponse) => void response.writeHead(500).end()],
    ["302", (response: ServerResponse) => void response.writeHead(302, { location: "/elsewhere" }).end()],
  ])("tries a message again that is answered with %s, and the others go on", async (status, refuse) => {
    let refusals = 1;
    answer = (response, body) => {
      if (body !== "bad" || refusals === 0) return void response.writeHead(200).end();
      refusals -= 1;
      refuse(response);
    };
    for (const body of ["bad", "good"]) await system.send(queueUrl, body);
    const { stop } = start();
    await expect.poll(bodies).toEqual(["bad", "bad", "good"]);
    await expect.poll(counts).toEqual({ waiting: 0, inFlight: 0 });
    expect(await stop()).toEqual({ forwarded: 2, refused: 1 });
    expect(reported).toContain(`answered ${status}  no CloudEvent, received 1 time: again in 2 s`);
  });

  it("holds messages while nobody answers, received once however long that is", async () => {
    await closeServer(server);
    await system.send(queueUrl, "held");
    const { stop } = start();
    await expect
      .poll(() => reported)
      .toContainEqual(expect.stringContaining("(nothing listens there, ECONNREFUSED). Holding 1 message "));
    const holds = () => system.calls().get("test sqs:ChangeMessageVisibilityBatch") ?? 0;
    const before = holds();
    await expect.poll(holds).toBeGreaterThan(before + 5);
    expect(await counts()).toEqual({ waiting: 0, inFlight: 1 });
    await listen(server, { port: ownPort });
    await expect.poll(bodies).toEqual(["held"]);
    await expect.poll(counts).toEqual({ waiting: 0, inFlight: 0 });
    expect(await stop()).toEqual({ forwarded: 1, refused: 0 });
    expect(reported.filter((text) => text.includes("ECONNREFUSED"))).toHaveLength(1);
  });

  it("releases what is in flight when it is ended", async () => {
    answer = () => undefined;
    await system.send(queueUrl, "in flight");
    const { stop } = start();
    await expect.poll(bodies).toEqual(["in flight"]);
    expect(await counts()).toEqual({ waiting: 0, inFlight: 1 });
    expect(await stop()).toEqual({ forwarded: 0, refused: 0 });
    expect(await counts()).toEqual({ waiting: 1, inFlight: 0 });
  });

  it("treats a missing answer as a refusal", async () => {
    answer = () => undefined;
    await system.send(queueUrl, "slow");
    const { stop } = start(ownPort, 0.05);
    await expect.poll(() => reported).toContainEqual(expect.stringContaining("no answer in 0.05 s"));
    await stop();
  });

  it("continues if SQS throttles it, and ends if it may not read", async () => {
    const end = system.intercept(async ({ action }, phase) =>
      phase === "before" && action === "sqs:ReceiveMessage"
        ? { status: 400, errorType: "RequestThrottled", message: "injected by the test" }
        : undefined,
    );
    const { stop } = start();
    await expect.poll(() => reported).toContain("RequestThrottled: retrying.");
    end();
    await system.send(queueUrl, "after");
    await expect.poll(bodies).toEqual(["after"]);
    await stop();
    queueUrl = `${queueUrl}-gone`;
    await expect(start().result).rejects.toThrow();
  });
});

describe("an address", () => {
  it("is http or https", () => {
    expect(parseTarget("http://localhost:3000/events").href).toBe("http://localhost:3000/events");
    expect(parseTarget("https://example.org").href).toBe("https://example.org/");
  });

  it.each(["", "localhost:3000", "file:///etc/passwd", "http://", "http://me:secret@localhost/"])(
    "is refused if it is %j, naming the flag",
    (text) => {
      expect(() => parseTarget(text)).toThrow(/^--to .* is not an address to post to/);
    },
  );
});
