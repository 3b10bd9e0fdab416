import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { Check, Finding } from "./finding.ts";

export const failuresCheck: Check = {
  name: "what the relay gave up on",
  examine: async ({ deployment, clients }) => {
    const Bucket = deployment.output("FailuresBucketName");
    const { KeyCount = 0 } = await clients.s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }));
    return KeyCount === 0
      ? { findings: [], well: [{ code: givenUp.code }] }
      : { findings: [givenUp], well: [] };
  },
};

const givenUp: Finding = {
  code: "changes-given-up",
  severity: "error",
  what: "The relay gave up on changes of the table; they wait in the failures bucket.",
  why: "What follows from them has not happened: states, fetches, messages to subscribers.",
  fix: "npx income-events repair --failures",
};
