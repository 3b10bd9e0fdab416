import { IncomeEventsStack } from "@income-events/cdk";
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";

const app = new App();
const stage = String(app.node.tryGetContext("stage") ?? "local");
IncomeEventsStack.fromSettingsFile(app, `income-events-${stage}`, { stage, file: `stages/${stage}.json` });
if (process.env.CDK_VALIDATION !== "false") Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
