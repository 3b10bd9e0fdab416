/** JMESPath in a file that is loaded when it is first needed. */
export { jmespathSearch } from "../aws/jmespath-search.ts";
