import { GetCallerIdentityCommand, GetSessionTokenCommand } from "@aws-sdk/client-sts";
import { afterAll, expect, test } from "vitest";
import { account, clients, startLocalSystem } from "./local-system.ts";

const system = await startLocalSystem();
afterAll(() => system.close());
const { sts } = clients(system, system.operator);

test("who calls is answered to everybody, and nothing else of STS", async () => {
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
