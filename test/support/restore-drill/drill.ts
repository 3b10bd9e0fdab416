import { spawn } from "node:child_process";
import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { announce } from "@income-events/local-stack/announce.ts";
import { outputOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { invoke, type System } from "@income-events/local-stack/system.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { documentPrefix } from "../../../adapters/dynamodb/keys.ts";
import { readBodies, readObjects } from "../../../proof/scenario/snapshot.ts";
import { problemsOf } from "./assess.ts";
import { createTable, emptyTable, type Item, readItems } from "./tables.ts";

const commands = join(import.meta.dirname, "../../../packages/cli/main.ts");
/** Milliseconds that the queues may take to empty. */
const patience = 900_000;

/**
 * Runs through the loss of an account: a backup, an erasure, the loss of table, buckets and erasure key, and the restore
 * by the commands of docs/operate/restore.md. Then it applies the log of erasures again, after an item of an erased
 * account was restored by hand. The stage restores into itself; in AWS, a new stage would be deployed.
 * @param system a running stage, whose data the drill changes
 * @returns one sentence for each problem
 */
export async function restoreDrill(
  system: System,
  stage: string,
  say: (step: string) => void,
): Promise<readonly string[]> {
  const { sandbox, stack, access } = system;
  const tableName = outputOf(stack, "TableName");
  const restoredName = "restored-by-the-drill";
  const dynamodb = new DynamoDBClient(access);
  const s3 = new S3Client({ ...access, forcePathStyle: true });
  const secrets = new SecretsManagerClient(access);
  const [overflow, log] = [outputOf(stack, "OverflowBucketName"), outputOf(stack, "ErasureLogBucketName")];
  const SecretId = outputOf(stack, "ErasureKeyArn");
  const endAnnouncement = announce(stack);
  const idle = () => waitUntilIdle(system, patience);
  const command = (...args: readonly string[]) => run([...args, "--stage", stage, "--yes"], say);
  try {
    say("Users connect their accounts");
    const { users, accounts } = await sandbox.createUsers(2, { pictures: 1 });
    await idle();

    say("Backup");
    const before = await readItems(dynamodb, tableName);
    await createTable(dynamodb, restoredName, before);
    const objects = await readObjects(access, overflow);
    const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId }));

    say("One user is erased, and one registers");
    const erased = [users[0] ?? "", accounts[0] ?? ""];
    await command("erase", "user", users[0] ?? "");
    const { users: unannounced } = await sandbox.createUsers(1);
    await idle();

    say("The newest copy of the log");
    const erasures = await readObjects(access, log);

    say("The account is lost; a new stage has another key of erasures");
    await emptyTable(dynamodb, tableName);
    for (const Bucket of [overflow, log])
      for (const Key of (await readObjects(access, Bucket)).keys())
        await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    const another = JSON.stringify({ key: "of a new account" });
    await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: another }));
    await drainSubscribers(system);

    say("Key of erasures, log and documents are restored");
    await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
    for (const [Bucket, backup] of [
      [log, erasures],
      [overflow, objects],
    ] as const)
      for (const [Key, Body] of backup) await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    say("Restore");
    await command("restore", restoredName);
    await idle();
    say("An item of an erased account is restored by hand; the log is applied again");
    await putBack(dynamodb, tableName, before, accounts[0] ?? "");
    await command("erase", "apply-log");
    say("Consequences are derived again");
    await command("repair", "--all");
    await idle();
    say("Reconciliation finds what happened after the backup");
    await invoke(stack, outputOf(stack, "ReconcileFunctionName"));
    await idle();

    const after = await readItems(dynamodb, tableName);
    const keys = [...(await readObjects(access, overflow)).keys()];
    const messages = await drainSubscribers(system);
    return problemsOf({ before, after, keys, erased, messages, unannounced });
  } finally {
    endAnnouncement();
    for (const client of [dynamodb, s3, secrets]) client.destroy();
  }
}

async function putBack(
  client: DynamoDBClient,
  TableName: string,
  before: readonly Item[],
  accountId: string,
): Promise<void> {
  const item = before.find(
    ({ pk, sk }) => pk?.S === `ACCOUNT#${accountId}` && sk?.S?.startsWith(documentPrefix),
  );
  if (item === undefined) throw new Error("The backup has no data of the account");
  await client.send(new PutItemCommand({ TableName, Item: item }));
}

/** Removes and returns all messages of the subscribers' queues. */
async function drainSubscribers({ stack, access }: System): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (const { queueUrl } of subscribersOf(stack)) bodies.push(...(await readBodies(access, queueUrl)));
  return bodies;
}

/** Runs a command. @throws with its output if it fails */
function run(args: readonly string[], say: (line: string) => void): Promise<void> {
  say(`npx income-events ${args.join(" ")}`);
  const child = spawn(process.execPath, [commands, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let heard = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (heard += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`income-events ${args.join(" ")} ended with ${code}: ${heard}`));
    });
  });
}
