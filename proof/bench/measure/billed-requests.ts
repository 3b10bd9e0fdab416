/** SQS bills each 64 KB of a request's messages as one request. Source: the pricing page of SQS. */
const chunkBytes = 65_536;

/** As how many requests SQS bills one that sends or receives these bodies. */
export function billedRequests(bodies: readonly string[]): number {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  return Math.max(1, Math.ceil(bytes / chunkBytes));
}
