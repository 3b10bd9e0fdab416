import { describeOnTables } from "../../support/engines.ts";
import { holdsOnEngines } from "../support/erasure-on-engines.ts";

await describeOnTables("the law of erasure", (tables) => holdsOnEngines(tables, [80]));
