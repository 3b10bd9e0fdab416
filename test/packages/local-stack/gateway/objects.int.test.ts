import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { afterAll, expect, test } from "vitest";
import { clients, startLocalSystem } from "./local-system.ts";

const Bucket = "overflow";
const bucketArn = `arn:aws:s3:::${Bucket}`;

const system = await startLocalSystem();
afterAll(() => system.close());
await clients(system, system.operator).s3.send(new CreateBucketCommand({ Bucket }));

test("a permission holds for its own prefix and operation only", async () => {
  const caller = system.caller("prefixed", ["s3:PutObject", `${bucketArn}/bodies/*`]);
  const { s3 } = clients(system, caller);
  const expected = (action: string, resource: string) => ({
    name: "AccessDenied",
    message: expect.stringContaining(
      `User: ${caller.arn} is not authorized to perform: ${action} on resource: ${resource}`,
    ),
  });
  await expect(s3.send(new PutObjectCommand({ Bucket, Key: "data/1", Body: "x" }))).rejects.toMatchObject(
    expected("s3:PutObject", `${bucketArn}/data/1`),
  );
  await expect(s3.send(new GetObjectCommand({ Bucket, Key: "bodies/1" }))).rejects.toMatchObject(
    expected("s3:GetObject", `${bucketArn}/bodies/1`),
  );
  await expect(s3.send(new DeleteObjectCommand({ Bucket, Key: "bodies/1" }))).rejects.toMatchObject(
    expected("s3:DeleteObject", `${bucketArn}/bodies/1`),
  );
  await expect(s3.send(new ListObjectsV2Command({ Bucket }))).rejects.toMatchObject(
    expected("s3:ListBucket", bucketArn),
  );
  await expect(s3.send(new HeadObjectCommand({ Bucket, Key: "bodies/1" }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 403 },
  });
});

test("that an object is missing is reported only to who may list the bucket", async () => {
  const read = ["s3:GetObject", `${bucketArn}/*`] as const;
  const lists = system.caller("lists", read, ["s3:ListBucket", bucketArn]);
  const reads = system.caller("readsonly", read);
  const missing = new GetObjectCommand({ Bucket, Key: "missing" });
  await expect(clients(system, lists).s3.send(missing)).rejects.toMatchObject({ name: "NoSuchKey" });
  await expect(clients(system, reads).s3.send(missing)).rejects.toMatchObject({ name: "AccessDenied" });
});

test("deleting several objects needs the permission on each", async () => {
  const caller = system.caller("cleans", ["s3:DeleteObject", `${bucketArn}/bodies/*`]);
  const { s3 } = clients(system, caller);
  const remove = (keys: string[]) =>
    s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
  await expect(remove(["bodies/1", "data/a&b"])).rejects.toThrow(`${bucketArn}/data/a&b`);
  expect((await remove(["bodies/1"])).Deleted).toHaveLength(1);
});

test("a bucket's policy holds for its objects", async () => {
  const caller = system.caller("deniedbybucket", ["s3:PutObject", `${bucketArn}/*`]);
  const policy = {
    Statement: {
      Effect: "Deny",
      Principal: { AWS: caller.arn },
      Action: "s3:*",
      Resource: [bucketArn, `${bucketArn}/*`],
    },
  };
  system.gateway.setResourcePolicy(bucketArn, parsePolicy(policy, "bucket policy"));
  await expect(
    clients(system, caller).s3.send(new PutObjectCommand({ Bucket, Key: "x", Body: "x" })),
  ).rejects.toThrow("explicit deny in bucket policy");
});
