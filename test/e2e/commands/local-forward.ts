import { expect, it } from "vitest";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import { runProgram } from "../../support/program.ts";
import { startTestProvider } from "../../support/test-provider.ts";
import type { LookedUpStage } from "./looked-up-stage.ts";

/** Forwarding to a program on this machine. */
export function describeForward(use: () => LookedUpStage): void {
  const depthOf = async (name: string) => {
    using clients = clientsOf(use().system.access);
    const { waiting, inFlight } = await queueDepth(clients.sqs, use().output(`Subscriber${name}QueueUrl`));
    return { waiting, inFlight };
  };

  it("local forward posts waiting and new messages to a local URL, and empties the queue, until Ctrl-C", async () => {
    const { system, storedEvents } = use();
    const local = await startTestProvider();
    local.answer = () => 200;
    const got = () => local.requests.map(({ body }) => JSON.parse(body));
    const gotIds = () =>
      got()
        .map(({ id }) => String(id))
        .toSorted();
    const announced = async () =>
      (await storedEvents())
        .filter(({ event }) => event.type.startsWith("user."))
        .map(({ event }) => event.id)
        .toSorted();
    const before = await announced();
    expect(before.length).toBeGreaterThan(1);
    expect((await depthOf("Local")).waiting).toBe(before.length);

    const args = ["local", "forward", "--to", `${local.url}/events`, "--stage", "looking-up"];
    await using command = runProgram("packages/cli/main.ts", args);
    await expect.poll(gotIds).toEqual(before);
    const { users } = await system.sandbox.createUsers(1);
    await expect.poll(() => got().map(({ subject }) => subject)).toContain(`user/${users[0]}`);
    await waitUntilIdle(system);
    await expect.poll(() => depthOf("Local")).toEqual({ waiting: 0, inFlight: 0 });
    expect(gotIds()).toEqual(await announced());
    expect(command.output()).toContain("replay --subscriber local --since");

    command.signal("SIGINT");
    expect(await command.ended).toBe(0);
    expect(command.output()).toContain(`Forwarded ${local.requests.length} messages`);
    await local.close();
  });

  it.each([
    ["everything", /takes messages from the queue of the subscriber everything[\s\S]*--yes/],
    ["nobody", /No subscriber nobody/],
  ])(
    "local forward takes nothing without confirmation, nor from an unknown subscriber: %s",
    async (name, reason) => {
      const before = await depthOf("Everything");
      const args = ["local", "forward", "--to", "http://127.0.0.1:1/", "--subscriber", name];
      expect(await use().run(args)).toMatchObject({
        ...{ code: 2, stdout: "", stderr: expect.stringMatching(reason) },
      });
      expect(await depthOf("Everything")).toEqual(before);
    },
  );
}
