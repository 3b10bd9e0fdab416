import { createServer } from "node:http";
import { S3Client } from "@aws-sdk/client-s3";
import { closeServer, listen } from "@income-events/local-stack/http-server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { versionPurger } from "../../../adapters/s3/object-versions.ts";

type Version = { readonly key: string; readonly id: string; readonly isMarker?: boolean };

/** A versioned bucket, which the engines lack: newest version of a key first, two per page. */
let versions: readonly Version[] = [];
let nextId = 0;
const isLatest = ({ key, id }: Version) => versions.find((each) => each.key === key)?.id === id;
const current = () => versions.filter((each) => isLatest(each) && !each.isMarker).map(({ key }) => key);

const server = createServer(({ method, url = "" }, response) => {
  const { pathname, searchParams: query } = new URL(url, "http://s3");
  const key = decodeURIComponent(pathname.replace(/^\/bucket\/?/, ""));
  response.setHeader("content-type", "application/xml");
  if (method === "DELETE") {
    const id = query.get("versionId");
    versions =
      id === null
        ? [{ key, id: `${nextId++}`, isMarker: true }, ...versions]
        : versions.filter((each) => each.id !== id);
    response.writeHead(204).end();
    return;
  }
  const below = (each: string) => each.startsWith(query.get("prefix") ?? "");
  if (!query.has("versions")) {
    const listed = current().filter(below);
    const contents = listed.map((each) => `<Contents><Key>${each}</Key></Contents>`);
    response.end(`<ListBucketResult>${contents.join("")}</ListBucketResult>`);
    return;
  }
  const marker = query.get("version-id-marker");
  const ordered = versions.filter((each) => below(each.key)).toSorted((a, b) => Number(b.id) - Number(a.id));
  const rest = ordered.filter(({ id }) => marker === null || Number(id) < Number(marker));
  const page = rest.slice(0, 2);
  const last = page.at(-1);
  const next =
    rest.length > 2 && last !== undefined
      ? `<NextKeyMarker>${last.key}</NextKeyMarker><NextVersionIdMarker>${last.id}</NextVersionIdMarker>`
      : "";
  const body = page.map((each) => {
    const name = each.isMarker ? "DeleteMarker" : "Version";
    return `<${name}><Key>${each.key}</Key><VersionId>${each.id}</VersionId><IsLatest>${isLatest(each)}</IsLatest></${name}>`;
  });
  response.end(`<ListVersionsResult>${body.join("")}${next}</ListVersionsResult>`);
});

let client: S3Client;
beforeAll(async () => {
  client = new S3Client({
    endpoint: `http://127.0.0.1:${await listen(server)}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "A", secretAccessKey: "S" },
    forcePathStyle: true,
  });
});
afterAll(() => {
  client.destroy();
  return closeServer(server);
});

/** Versions of keys, oldest first. */
const bucketOf = (...keys: readonly string[]) => {
  versions = keys.map((key) => ({ key, id: `${nextId++}` })).toReversed();
};
const eraser = () => objectEraser(client, "bucket", versionPurger(client));

test("an erased person's objects are deleted with all versions, and no others", async () => {
  bucketOf("data/a/1", "data/a/1", "data/b/1", "data/b/1", "data/a/2", "data/a/3");
  // Deleted earlier, like a superseded object.
  versions = [{ key: "data/a/3", id: `${nextId++}`, isMarker: true }, ...versions];
  expect(await eraser().removeBelow("data/a/")).toBe(2);
  expect(versions.map(({ key }) => key)).toEqual(["data/b/1", "data/b/1"]);
});

test("an object is deleted with its versions, and none whose key begins with its key", async () => {
  bucketOf("bodies/users/1", "bodies/users/1", "bodies/users/10");
  await eraser().remove("bodies/users/1");
  expect(versions.map(({ key }) => key)).toEqual(["bodies/users/10"]);
  expect(current()).toEqual(["bodies/users/10"]);
});
