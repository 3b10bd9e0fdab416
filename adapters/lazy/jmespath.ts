/** JMESPath, loaded on first use. */
export { jmespathSearch } from "../aws/jmespath-search.ts";
