import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { readProject } from "@income-events/local-stack/synthesis/project.ts";
import { runApp } from "@income-events/local-stack/synthesis/synthesize.ts";
import { type System, startSystem } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { signedFetch } from "../../proof/support/signed-fetch.ts";
import { exampleOf } from "../../scripts/documents/examples.ts";
import { fastEngine } from "../support/engines.ts";

const income = z.object({
  data: z.array(z.object({ net: z.string(), currency: z.string(), date_end: z.string() })),
});

/** @param folderOf returns the examples' folder, once they are installed */
export function describeLambdaSubscriber(folderOf: () => string): void {
  describe("the one of a Lambda that reads documents, as its own app synthesizes it", () => {
    let folder: string;
    let system: System;
    let account: string;
    let user: string;

    beforeAll(async () => {
      folder = folderOf();
      const assembly = join(folder, "assembly");
      await runApp(readProject(join(folder, "lambda-subscriber")), {}, assembly);
      const logs = join(folder, "logs");
      mkdirSync(logs);
      const options = { once: true, users: 0, stage: "local", assembly, engine: await fastEngine(), logs };
      const ports = { apiPort: 0, awsPort: 0, sandboxPort: 0 };
      const nothing = () => undefined;
      system = await startSystem(
        { ...options, ...ports },
        {},
        { progress: nothing, notice: nothing },
        nothing,
      );
      const created = await system.sandbox.createUsers(1);
      [user = ""] = created.users;
      [account = ""] = created.accounts;
    });
    afterAll(() => system?.close());

    const read = (path: string, credentials = system.stack.operator) =>
      signedFetch(hrefOf(path), { region: system.stack.region, credentials });
    const hrefOf = (path: string) => new URL(path, outputOf(system.stack, "DocumentsUrl"));
    const pathOfIncome = () => `v1/accounts/${account}/documents/income`;
    const kept = async () => {
      const table = new DynamoDBClient(system.access);
      const TableName = outputOf(system.stack, "IncomesTableName");
      const { Items = [] } = await table.send(new ScanCommand({ TableName, ConsistentRead: true }));
      table.destroy();
      return Items.map(({ account: of, income }) => [of?.S, income?.S]);
    };

    it("keeps the income of an account's newest period, read with the Lambda's own role", async () => {
      await expect.poll(kept).toEqual([[account, expect.any(String)]]);
      const { data } = income.parse(await (await read(pathOfIncome())).json());
      const lastDay = data
        .map(({ date_end }) => date_end)
        .toSorted()
        .at(-1);
      const newest = data.find(({ date_end }) => date_end === lastDay);
      expect(await kept()).toEqual([[account, `${newest?.net} ${newest?.currency} until ${lastDay}`]]);
    });

    it("is refused what only another subscriber gets, and leaves the message on the queue", async () => {
      const message = exampleOf("data.updated");
      const document = { ...Object(message.data).document, href: String(hrefOf(`v1/users/${user}`)) };
      const body = JSON.stringify({ ...message, data: { ...message.data, document } });
      const lambda = system.stack.functions.find(({ logicalId }) => logicalId.startsWith("Billing"));
      const outcome = await lambda?.invoke(JSON.stringify({ Records: [{ messageId: "refused", body }] }));

      expect(outcome).toMatchObject({
        payload: JSON.stringify({ batchItemFailures: [{ itemIdentifier: "refused" }] }),
      });
      const log = join(folder, "logs", `${lambda?.name}.log`);
      await expect.poll(() => readFileSync(log, "utf8")).toContain("the document was answered 403");
    });

    it("gives the other subscriber no document that is the Lambda's alone", async () => {
      await expect.poll(kept).toEqual([[account, expect.any(String)]]);
      const support = system.subscribers.find(({ name }) => name === "support");
      const statusAs = async (path: string) => (await read(path, support?.credentials)).status;
      expect(await statusAs(pathOfIncome())).toBe(403);
      expect(await statusAs(`v1/users/${user}`)).toBe(200);
    });
  });
}
