/**
 * Replaces `node:process` in the bundles of functions. Importing that as an ES module reads all its exports, which
 * opens standard input, output and error during a cold start.
 */
export const { env, versions } = process;
