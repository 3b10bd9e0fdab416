import {
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from "@aws-sdk/client-s3";

/** Deletes the former versions of a versioned bucket's overwritten and deleted objects below a prefix. */
export type PurgeVersions = (bucket: string, prefix: string) => Promise<void>;

/** For buckets that keep no versions. */
export const keepsNoVersions: PurgeVersions = async () => undefined;

type Version = { readonly Key?: string | undefined; readonly VersionId?: string | undefined };

export function versionPurger(client: S3Client): PurgeVersions {
  return async (Bucket, Prefix) => {
    const remove = ({ Key, VersionId }: Version) =>
      client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    const markers: Version[] = [];
    for await (const { Versions = [], DeleteMarkers = [] } of pagesOf(client, { Bucket, Prefix })) {
      await Promise.all(Versions.filter(({ IsLatest }) => IsLatest === false).map(remove));
      markers.push(...DeleteMarkers);
    }
    // Markers last: without its marker, a deleted object would reappear with its newest version.
    await Promise.all(markers.map(remove));
  };
}

async function* pagesOf(
  client: S3Client,
  below: { readonly Bucket: string; readonly Prefix: string },
): AsyncGenerator<ListObjectVersionsCommandOutput> {
  let page: ListObjectVersionsCommandOutput | undefined;
  do {
    const from = { KeyMarker: page?.NextKeyMarker, VersionIdMarker: page?.NextVersionIdMarker };
    page = await client.send(new ListObjectVersionsCommand({ ...below, ...from }));
    yield page;
  } while (page.NextKeyMarker !== undefined);
}
