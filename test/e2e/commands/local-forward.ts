import { once } from "node:events";
import { createServer } from "node:http";
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { waitUntilIdle } from "../../support/eventually.ts";
import { runProgram } from "../../support/program.ts";
import type { LookedUpStage } from "./looked-up-stage.ts";

/** Forwarding to a program on this machine. */
export function describeForward(use: () => LookedUpStage): void {
  describe("local forward", () => {
    let stage: LookedUpStage;
    beforeAll(() => {
      stage = use();
    });

    const depthOf = async (name: string) => {
      const QueueUrl = subscribersOf(stage.system.stack).find((one) => one.name === name)?.queueUrl;
      const client = new SQSClient(stage.system.access);
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
      );
      client.destroy();
      return {
        waiting: Number(Attributes.ApproximateNumberOfMessages),
        inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
      };
    };

    it("posts waiting and new messages to a local URL, and empties the queue, until Ctrl-C", async () => {
      const got: { id: string; type: string; subject: string }[] = [];
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        got.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(200).end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = z.object({ port: z.number() }).parse(server.address());
      const announced = async () =>
        (await stage.storedEvents())
          .filter(({ event }) => event.type.startsWith("user."))
          .map(({ event }) => event.id)
          .toSorted();
      const before = await announced();
      expect(before.length).toBeGreaterThan(1);
      expect((await depthOf("local")).waiting).toBe(before.length);

      const to = `http://127.0.0.1:${port}/events`;
      await using command = runProgram("packages/cli/main.ts", [
        "local",
        "forward",
        "--to",
        to,
        "--stage",
        "looking-up",
      ]);
      await expect.poll(() => got.map(({ id }) => id).toSorted()).toEqual(before);
      const { users } = await stage.system.sandbox.createUsers(1);
      await expect.poll(() => got.map(({ subject }) => subject)).toContain(`user/${users[0]}`);
      await waitUntilIdle(stage.system);
      await expect.poll(() => depthOf("local")).toEqual({ waiting: 0, inFlight: 0 });
      expect(got.map(({ id }) => id).toSorted()).toEqual(await announced());
      expect(command.output()).toContain("replay --subscriber local --since");

      command.signal("SIGINT");
      expect(await command.ended).toBe(0);
      expect(command.output()).toContain(`Forwarded ${got.length} messages`);
      server.close();
    });

    it("takes nothing from a subscriber with its own readers without confirmation", async () => {
      const before = await depthOf("everything");
      const args = ["local", "forward", "--to", "http://127.0.0.1:1/", "--subscriber", "everything"];
      expect(await stage.run(args)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(
          /takes messages from the queue of the subscriber everything[\s\S]*--yes/,
        ),
      });
      expect(await depthOf("everything")).toEqual(before);
    });

    it("refuses an unknown subscriber", async () => {
      const args = ["local", "forward", "--to", "http://127.0.0.1:1/", "--subscriber", "nobody"];
      expect(await stage.run(args)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("No subscriber nobody"),
      });
    });
  });
}
