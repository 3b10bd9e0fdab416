import {
  asString,
  type JsonObject,
  type Operation,
  type Place,
  parseJsonObject,
  UnknownOperationError,
} from "../operation.ts";

/**
 * Parses an operation of DynamoDB Streams. An engine's shard iterator may not name its stream, so callers get
 * the stream's ARN, a space and the engine's iterator, in base64url.
 */
export function streamsOperation(
  name: string,
  input: JsonObject,
  arns: TableArns,
  region: string,
): Operation {
  const action = `dynamodb:${name}`;
  const operation = { service: "streams", action } as const;
  switch (name) {
    case "ListStreams":
      return { ...operation, needs: [{ action, resource: "*" }], rewriteAnswer: arns.forCaller };
    case "DescribeStream":
    case "GetShardIterator": {
      const stream = asString(input.StreamArn);
      return {
        ...operation,
        needs: [{ action, resource: stream }],
        body: JSON.stringify({ ...input, StreamArn: arns.forEngine(stream) }),
        rewriteAnswer: (answer) =>
          name === "DescribeStream"
            ? arns.forCaller(answer)
            : nameIteratorsStream(answer, stream, "ShardIterator"),
      };
    }
    case "GetRecords": {
      const [stream, iterator] = unwrapIterator(asString(input.ShardIterator));
      return {
        ...operation,
        needs: [{ action, resource: stream }],
        body: JSON.stringify({ ...input, ShardIterator: iterator }),
        rewriteAnswer: (answer) =>
          nameIteratorsStream(answer, stream, "NextShardIterator").replace(
            /"awsRegion":\s*"[^"]*"/g,
            `"awsRegion":${JSON.stringify(region)}`,
          ),
      };
    }
    default:
      throw new UnknownOperationError(action, `the streams operation ${action}`);
  }
}

/**
 * Replaces iterators in the text, since a batch may be megabytes. Attribute values are objects in this
 * format, so a member with a string value cannot be a record's own attribute.
 */
function nameIteratorsStream(answer: string, stream: string, member: string): string {
  return answer.replace(new RegExp(`"${member}":\\s*("(?:[^"\\\\]|\\\\.)*")`), (_, quoted: string) => {
    const iterator = asString(parseJsonObject(`{"iterator":${quoted}}`).iterator);
    return `"${member}":"${Buffer.from(`${stream} ${iterator}`).toString("base64url")}"`;
  });
}

function unwrapIterator(wrapped: string): [string, string] {
  const text = Buffer.from(wrapped, "base64url").toString();
  const space = text.indexOf(" ");
  return space === -1 ? ["*", wrapped] : [text.slice(0, space), text.slice(space + 1)];
}

export type TableArns = ReturnType<typeof createTableArns>;

/**
 * Translates table ARNs. Engines use a region of their own in ARNs (`ddblocal`, `dynoxide`), which is learned
 * from their answers; callers and policies see the local system's region.
 */
export function createTableArns(scope: Place) {
  const own = `arn:aws:dynamodb:${scope.region}:${scope.account}:table/`;
  let engine = own;
  return {
    table: (nameOrArn: string) => (nameOrArn.startsWith("arn:") ? nameOrArn : own + nameOrArn),
    forCaller: (answer: string): string => {
      engine = /"(arn:aws:dynamodb:[^:"]*:\d*:table\/)/.exec(answer)?.[1] ?? engine;
      return answer.replaceAll(`"${engine}`, `"${own}`);
    },
    forEngine: (arn: string) => (arn.startsWith(own) ? engine + arn.slice(own.length) : arn),
  };
}
