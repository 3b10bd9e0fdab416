/**
 * Takes the place of `node:process` in the bundles of functions. As an ES module that one is asked for all that it
 * exports, and so opens standard input, output and error while the function starts.
 */
export const { env, versions } = process;
