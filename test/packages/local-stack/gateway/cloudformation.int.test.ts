import {
  DescribeStacksCommand,
  ListStackResourcesCommand,
  paginateListStackResources,
} from "@aws-sdk/client-cloudformation";
import { afterAll, expect, test } from "vitest";
import { account, clients, region, startLocalSystem } from "./local-system.ts";

const resources = Array.from({ length: 130 }, (_, index) => ({
  logicalId: `Logs${index}`,
  type: "AWS::Logs::LogGroup",
  physicalId: `stage-<Logs>-${index}`,
}));
const system = await startLocalSystem({ engines: { stack: () => ({ name: "stage", resources }) } });
afterAll(() => system.close());

test("the resources of the running stack are listed page by page", async () => {
  const { cloudFormation: client } = clients(system, system.operator);
  const pages = [];
  for await (const page of paginateListStackResources({ client }, { StackName: "stage" }))
    pages.push(page.StackResourceSummaries ?? []);
  expect(pages.map(({ length }) => length)).toEqual([100, 30]);
  expect(
    pages.flat().map(({ LogicalResourceId: logicalId, ResourceType: type, PhysicalResourceId }) => ({
      logicalId,
      type,
      physicalId: PhysicalResourceId,
    })),
  ).toEqual(resources);
});

test("another stack is not there, another operation is not known, and a caller needs the permission on the stack", async () => {
  const { cloudFormation } = clients(system, system.operator);
  await expect(
    cloudFormation.send(new ListStackResourcesCommand({ StackName: "other" })),
  ).rejects.toMatchObject({ name: "ValidationError", message: "Stack with id other does not exist" });
  await expect(cloudFormation.send(new DescribeStacksCommand({}))).rejects.toThrow(
    "it knows ListStackResources",
  );
  const arn = `arn:aws:cloudformation:${region}:${account}:stack/stage/*`;
  const reader = clients(system, system.caller("reader", ["cloudformation:ListStackResources", arn]));
  const list = (StackName: string) =>
    reader.cloudFormation.send(new ListStackResourcesCommand({ StackName }));
  await list("stage");
  await expect(list("other")).rejects.toMatchObject({ name: "AccessDenied" });
});
