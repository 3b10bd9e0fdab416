/** The account of every ARN and QueueUrl in the local system: the queue engine knows no other. */
export const localAccount = "000000000000";
