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
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 29.
   * @default 10
   */
  readonly timeoutSeconds?: number | Duration;
  /**
   * So many environments are kept for each of the four receivers, and it gets no more; beyond it the provider is answered 503 and sends again. From 1 to 100000.
   * @default - none
   */
  readonly reservedConcurrency?: number;
}

/** The settings `functions.store.*`. */
export interface FunctionsStoreProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 20
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.relay.*`. */
export interface FunctionsRelayProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.fetch.*`. */
export interface FunctionsFetchProps {
  /**
   * From 128 to 10240.
   * @default 1024
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.read.*`. */
export interface FunctionsReadProps {
  /**
   * Of the function that answers reads; the largest answer, 200 MB, takes 100 s. From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * Of the function that answers reads; the largest answer, 200 MB, takes 100 s. From 1 to 900.
   * @default 120
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.refresh.*`. */
export interface FunctionsRefreshProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.register.*`. */
export interface FunctionsRegisterProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 60
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.reconcile.*`. */
export interface FunctionsReconcileProps {
  /**
   * From 128 to 10240.
   * @default 256
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.archive.*`. */
export interface FunctionsArchiveProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}

/** The settings `functions.erase.*`. */
export interface FunctionsEraseProps {
  /**
   * From 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number | Size;
  /**
   * From 1 to 900.
   * @default 300
   */
  readonly timeoutSeconds?: number | Duration;
}
