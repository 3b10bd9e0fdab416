/**
 * Unit prices in US dollars in us-east-1, per month if the name says so; beyond the free tier, first price
 * step. Looked up on `date` in possibly older copies of the named pages.
 */
export const prices = {
  date: "2026-11-21",
  region: "us-east-1",
  // https://aws.amazon.com/api-gateway/pricing/
  /** Per 512 KB. */
  apiRequest: 0.000001,
  // https://aws.amazon.com/lambda/pricing/
  lambdaRequest: 0.0000002,
  /** On arm64. */
  lambdaGigabyteSecond: 0.0000133334,
  // https://aws.amazon.com/sqs/pricing/
  /** Per 64 KB, for a standard queue. */
  sqsRequest: 0.0000004,
  /** Per 64 KB, for a FIFO queue. */
  sqsFifoRequest: 0.0000005,
  // https://aws.amazon.com/dynamodb/pricing/on-demand/
  writeUnit: 0.000000625,
  readUnit: 0.000000125,
  tableGigabyteMonth: 0.25,
  /** Point-in-time recovery. */
  tableRecoveryGigabyteMonth: 0.2,
  // https://aws.amazon.com/s3/pricing/
  /** A list costs as much. */
  objectPut: 0.000005,
  objectGet: 0.0000004,
  objectGigabyteMonth: 0.023,
  // https://aws.amazon.com/secrets-manager/pricing/
  secretMonth: 0.4,
  secretRead: 0.000005,
  // https://aws.amazon.com/cloudwatch/pricing/
  logGigabyte: 0.5,
  /** Stored, compressed. */
  logGigabyteMonth: 0.03,
  metricMonth: 0.3,
  /** Per metric in a request of GetMetricData. */
  metricRead: 0.00001,
  alarmMonth: 0.1,
  compositeAlarmMonth: 0.5,
  dashboardMonth: 3,
};
