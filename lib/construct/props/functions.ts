// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration, Size } from "aws-cdk-lib";

/** The settings `functions.*`. */
export interface FunctionsProps {
  /** The settings `functions.receive.*`. */
  readonly receive?: FunctionsReceiveProps;
  /** The settings `functions.store.*`. */
  readonly store?: FunctionsStoreProps;
  /** The settings `functions.relay.*`. */
  readonly relay?: FunctionsRelayProps;
  /** The settings `functions.fetch.*`. */
  readonly fetch?: FunctionsFetchProps;
  /** The settings `functions.read.*`. */
  readonly read?: FunctionsReadProps;
  /** The settings `functions.refresh.*`. */
  readonly refresh?: FunctionsRefreshProps;
  /** The settings `functions.register.*`. */
  readonly register?: FunctionsRegisterProps;
  /** The settings `functions.reconcile.*`. */
  readonly reconcile?: FunctionsReconcileProps;
  /** The settings `functions.archive.*`. */
  readonly archive?: FunctionsArchiveProps;
  /** The settings `functions.erase.*`. */
  readonly erase?: FunctionsEraseProps;
}

/** The settings `functions.receive.*`. */
export interface FunctionsReceiveProps {
  /**
   * Memory in MB, and timeout in seconds, of the receivers. API Gateway waits at most 29 s. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the receivers. API Gateway waits at most 29 s. From 1 to 29.
   * @default 10
   */
  readonly timeoutSeconds?: number | Duration;
  /**
   * Reserved concurrency of each of the four receiver functions, and also their limit. Requests above it are answered 503, and the provider retries them. From 1 to 100000.
   * @default - none
   */
  readonly reservedConcurrency?: number;
}

/** The settings `functions.store.*`. */
export interface FunctionsStoreProps {
  /**
   * Memory in MB, and timeout in seconds, of the consumers that store events. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the consumers that store events. From 1 to 900.
   * @default 20
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.relay.*`. */
export interface FunctionsRelayProps {
  /**
   * Memory in MB, and timeout in seconds, of the relay. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the relay. From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.fetch.*`. */
export interface FunctionsFetchProps {
  /**
   * Memory in MB, and timeout in seconds, of the function that reads data from the provider. From 128 to 10240.
   * @default 1024
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the function that reads data from the provider. From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.read.*`. */
export interface FunctionsReadProps {
  /**
   * Memory of the function that answers reads, in MB. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Timeout of the function that answers reads. The largest response, 200 MB, takes 100 s. From 1 to 900.
   * @default 120
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.refresh.*`. */
export interface FunctionsRefreshProps {
  /**
   * Memory in MB, and timeout in seconds, of the function that refreshes the token. From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the function that refreshes the token. From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.register.*`. */
export interface FunctionsRegisterProps {
  /**
   * Memory in MB, and timeout in seconds, of the function that registers webhooks. From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the function that registers webhooks. From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.reconcile.*`. */
export interface FunctionsReconcileProps {
  /**
   * Memory in MB, and timeout in seconds, of the reconciliation. From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the reconciliation. From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.archive.*`. */
export interface FunctionsArchiveProps {
  /**
   * Memory in MB, and timeout in seconds, of the function that archives dead letters. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the function that archives dead letters. From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.erase.*`. */
export interface FunctionsEraseProps {
  /**
   * Memory in MB, and timeout in seconds, of the function that erases users and accounts. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Memory in MB, and timeout in seconds, of the function that erases users and accounts. From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}
