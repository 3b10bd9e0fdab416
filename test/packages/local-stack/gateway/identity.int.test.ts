import { GetCallerIdentityCommand, GetSessionTokenCommand } from "@aws-sdk/client-sts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { account, clients, type LocalSystem, startLocalSystem } from "./local-system.ts";

let system: LocalSystem;
beforeAll(async () => {
  system = await startLocalSystem();
});
afterAll(() => system.close());

test("who calls is answered to everybody, and nothing else of STS", async () => {
  const { sts } = clients(system, system.operator);
  expect(await sts.send(new GetCallerIdentityCommand({}))).toMatchObject({
    Account: account,
    Arn: system.operator.arn,
  });
  const theirs = {
    name: "theirs",
    arn: "arn:aws:iam::210987654321:role/theirs",
    accessKeyId: "AKIATHEIRSTHEIRSTHEI",
    secretAccessKey: "theirs",
    policies: [],
  };
  system.gateway.register(theirs);
  const ofOthers = clients(system, theirs).sts;
  expect(await ofOthers.send(new GetCallerIdentityCommand({}))).toMatchObject({ Account: "210987654321" });
  const other = sts.send(new GetSessionTokenCommand({}));
  await expect(other).rejects.toThrow("The local gateway does not know the STS operation");
});
